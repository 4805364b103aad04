use examples::grade::Grade;
use superstep::state::Update as _;
use superstep::{Event, EventKind};

use crate::inquiry::{Inquiry, InquiryUpdate, Search};
use crate::nodes::CallingModel;

/// Prints the progress of a run on stderr.
pub(crate) fn report(event: &Event<Inquiry>) {
    match &event.kind {
        EventKind::Update { node, update, .. } => {
            if update.is_empty() {
                eprintln!("{node:<9} done");
            }
            for line in lines(update) {
                eprintln!("{node:<9} {line}");
            }
        }
        EventKind::Custom { node, value, .. } => {
            if let Some(CallingModel { model }) = value.get() {
                eprintln!("{node:<9} waiting for `{model}`");
            }
        }
        _ => {}
    }
}

/// Returns the written fields as lines. A field constant of another state would not compile here.
fn lines(update: &InquiryUpdate) -> Vec<String> {
    let mut lines = Vec::new();
    for part in update.get(Inquiry::PARTS).into_iter().flatten() {
        lines.push(format!("“{}”", part.text));
    }
    for Search { query, grade, hits } in update.get(Inquiry::SEARCHES).into_iter().flatten() {
        let grade = match grade {
            Grade::Nothing => "nothing",
            Grade::Weak => "weak",
            Grade::Good => "good",
        };
        lines.push(format!("{}: {} passages, {grade}", query.stems.join(" "), hits.len()));
    }
    match update.get(Inquiry::WEAK).map(Vec::as_slice) {
        None => {}
        Some([]) => lines.push("no weak query left".to_owned()),
        Some(weak) => {
            let queries: Vec<_> = weak.iter().map(|query| format!("“{}”", query.stems.join(" "))).collect();
            lines.push(format!("too few results for {}", queries.join(", ")));
        }
    }
    for part in update.get(Inquiry::CONSULTED).into_iter().flatten() {
        lines.push(format!("got an answer for part {}", part + 1));
    }
    if let Some(Some(answer)) = update.get(Inquiry::ANSWER) {
        lines.push(format!("an answer from {} quotation(s)", answer.quotations.len()));
    }
    lines
}
