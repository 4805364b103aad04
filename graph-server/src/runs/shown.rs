//! Requests as clients see them again: without the fields of a state that are never shown.

use serde_json::Value;

use crate::app::App;
use crate::graphs::AnyGraph;
use crate::protocol::{Object, Run};
use crate::records::RunRecord;

/// Returns a run as clients see it.
pub(crate) fn shown(app: &App, record: &RunRecord) -> Run {
    let mut run = record.run.clone();
    hide(&mut run.kwargs, app.graphs.find(&record.graph_id).map(|graph| &**graph));
    run
}

/// Removes the excluded and untracked fields from the input and the update of a request. If the graph is not served, all fields are
/// removed.
pub(crate) fn hide(request: &mut Object, graph: Option<&dyn AnyGraph>) {
    // The parts of the message are in the input.
    request.remove("a2a");
    let hide = |fields: Option<&mut Value>| {
        if let Some(fields) = fields {
            hide_fields(fields, &|name| graph.is_some_and(|graph| graph.shows(name)));
        }
    };
    hide(request.get_mut("input"));
    hide(request.get_mut("command").and_then(|command| command.get_mut("update")));
}

fn hide_fields(value: &mut Value, shows: &dyn Fn(&str) -> bool) {
    match value {
        Value::Object(fields) => fields.retain(|name, value| {
            if name == "$overwrite" {
                hide_fields(value, shows);
                return true;
            }
            shows(name)
        }),
        Value::Array(updates) => updates.iter_mut().for_each(|update| hide_fields(update, shows)),
        _ => {}
    }
}
