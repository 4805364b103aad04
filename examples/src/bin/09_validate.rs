//! Shows validation of the input and of every write, with rules for one field and for several fields.
//! Run with `cargo run -p examples --bin 09_validate`.
//!
//! All problems of an input are reported together. A node that breaks a rule fails its superstep, and no write of the superstep is
//! applied.

use serde_json::json;
use superstep::{END, ErrorKind, GraphState, Result, START, StateGraph};

#[derive(GraphState, Clone, Debug)]
#[state(invariant = refund_within_payment)]
struct Claim {
    #[state(input, validate(length(min = 3)))]
    reason: String,
    #[state(input, validate(range(min = 0.0, max = 1.0)))]
    confidence: f32,
    #[state(input, default = 10)]
    paid: u32,
    refund: u32,
}

/// A rule for several fields.
fn refund_within_payment(claim: &Claim) -> Result<(), String> {
    if claim.refund > claim.paid {
        return Err(format!("the refund of {} is larger than the payment of {}", claim.refund, claim.paid));
    }
    Ok(())
}

async fn decide(claim: &Claim) -> ClaimUpdate {
    // NaN is outside every range.
    let confidence = if claim.reason == "unsure" { f32::NAN } else { claim.confidence };
    Claim::update().refund(if claim.reason == "greed" { 99 } else { 5 }).confidence(confidence)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let graph = StateGraph::<Claim>::new().edge(START, decide).edge(decide, END).compile()?;
    let from_json = |value| graph.parse_input(value);

    let claim = graph.run(from_json(json!({"reason": "broken", "confidence": 0.9}))?).await?.into_state();
    assert_eq!((claim.refund, claim.paid), (5, 10));

    // A missing field, a wrong type and an unknown field: one error lists all three with their paths.
    let Err(error) = from_json(json!({"confidence": "high", "payed": 3})) else {
        unreachable!("it lacks a reason")
    };
    println!("{error:?}\n");
    let ErrorKind::Input(problems) = error.kind() else { return Err(error.into()) };
    let paths: Vec<_> = problems.problems().iter().map(|problem| problem.path.as_str()).collect();
    assert_eq!(paths, ["$.reason", "$.confidence", "$.payed"]);

    for (reason, rule) in [
        ("no", "length(min = 3)"),
        ("unsure", "range(min = 0.0, max = 1.0)"),
        ("greed", "refund_within_payment"),
    ] {
        let Err(error) = graph.run(Claim::input(reason, 0.9)).await else {
            unreachable!("{reason} breaks {rule}")
        };
        println!("{error}\n");
        let ErrorKind::Validation { nodes, violations, .. } = error.kind() else { return Err(error.into()) };
        assert_eq!(nodes, if reason == "no" { &["START"] } else { &["decide"] });
        assert_eq!(violations.first().map(|violation| violation.rule), Some(rule));
    }
    Ok(())
}
