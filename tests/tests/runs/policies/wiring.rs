//! Invalid policies.

use std::time::Duration;

use expect_test::expect;
use superstep::policy::{Policy, Retry};
use superstep::{END, START, StateGraph};

use crate::engine::trace::{Trace, nodes};

nodes! { a b c }

#[test]
fn policy_errors_are_reported_together() {
    let error = StateGraph::<Trace>::new()
        .edge(START, a)
        .edge(a, b)
        .default_policy(Policy::new().retry(Retry::attempts(0)))
        .policy(a, Policy::new().timeout(Duration::ZERO).idle_timeout(Duration::ZERO))
        .policy(b, Policy::new().retry(Retry::attempts(2)).retry(Retry::attempts(2).factor(0.5)))
        .policy(b, Policy::new().retry(Retry::attempts(2).factor(f64::NAN)))
        .policy(c, Policy::new())
        .compile()
        .unwrap_err();
    expect![[r#"
        graph `Trace`: cannot be built, it has 7 mistakes
          the policy of all nodes allows no attempt: `Retry::attempts` includes the first attempt, so use at least 1
          the policy of node `a` has a `timeout` of zero: use a longer one, or `no_timeout()`
          the policy of node `a` has an `idle_timeout` of zero: use a longer one, or `no_idle_timeout()`
          the policy of node `b` has a `factor` that is less than 1 or not finite: use 1 or more
          node `b` has two policies: combine them into one
          `c` is given a policy, but is not in the graph: add it with an edge or `.node(c)`
          node `b` leads nowhere: add `.edge(b, ..)` (to END if it is the last node), or return a route from it"#]].assert_eq(&error.to_string());
}

#[test]
fn on_error_and_no_on_error_conflict() {
    async fn rescue(_: &Trace) {}
    let error = StateGraph::<Trace>::new()
        .edge(START, (a, b))
        .edge(a, END)
        .edge(b, END)
        .on_error(a, rescue)
        .no_on_error(a)
        .no_on_error(b)
        .on_error(b, rescue)
        .no_on_error(c)
        .compile()
        .unwrap_err();
    expect![[r#"
        graph `Trace`: cannot be built, it has 3 mistakes
          node `a` has both `.on_error(a, ..)` and `.no_on_error(a)`: remove one of the two
          node `b` has both `.on_error(b, ..)` and `.no_on_error(b)`: remove one of the two
          `c` is marked `no_on_error`, but is not in the graph: add it with an edge or `.node(c)`"#]]
    .assert_eq(&error.to_string());
}
