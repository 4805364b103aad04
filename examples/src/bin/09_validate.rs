//! The rules of a state hold at its edge —an input from a client names everything that is wrong with it at once— and at
//! every write: a node that breaks one fails the superstep, and nothing of it is applied.

use serde_json::json;
use superstep::{END, ErrorKind, GraphState, Result, START, StateGraph};

#[derive(GraphState, Clone, Debug)]
#[state(invariant = refund_is_paid_back)]
struct Claim {
    #[state(input, validate(length(min = 3)))]
    reason: String,
    #[state(input, validate(range(min = 0.0, max = 1.0)))]
    confidence: f32,
    #[state(input, default = 10)]
    paid: u32,
    refund: u32,
}

/// A rule over several fields.
fn refund_is_paid_back(claim: &Claim) -> Result<(), String> {
    if claim.refund > claim.paid {
        return Err(format!("refunds {} of {} paid", claim.refund, claim.paid));
    }
    Ok(())
}

async fn decide(claim: &Claim) -> ClaimUpdate {
    // NaN is in no range.
    let confidence = if claim.reason == "unsure" { f32::NAN } else { claim.confidence };
    Claim::update().refund(if claim.reason == "greed" { 99 } else { 5 }).confidence(confidence)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let graph = StateGraph::<Claim>::new().edge(START, decide).edge(decide, END).compile()?;
    let from_json = |value| graph.parse_input(value);

    let claim = graph.run(from_json(json!({"reason": "broken", "confidence": 0.9}))?).await?.into_state();
    assert_eq!((claim.refund, claim.paid), (5, 10));

    // Missing, mistyped and unknown: all in one error, each with its path.
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
        ("greed", "refund_is_paid_back"),
    ] {
        let Err(error) = graph.run(Claim::input(reason, 0.9)).await else {
            unreachable!("{reason} breaks {rule}")
        };
        println!("{error}\n");
        let ErrorKind::Validation { nodes, violations, .. } = error.kind() else { return Err(error.into()) };
        assert_eq!(nodes, if reason == "no" { &["START"] } else { &["decide"] });
        assert_eq!(violations.first().map(|broken| broken.rule), Some(rule));
    }
    Ok(())
}
