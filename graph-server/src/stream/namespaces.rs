use std::collections::HashMap;

use crate::graphs::{ServedEvent, ServedKind, task_uuid};

/// The names of subgraph namespaces: `node:task|node:task`.
///
/// An event has the path of nodes. The tasks are those that have begun last in these nodes.
#[derive(Debug, Default)]
pub(super) struct Namespaces {
    /// By the path of a node, the task that has begun last.
    tasks: HashMap<Vec<String>, String>,
}

impl Namespaces {
    /// Remembers the tasks that begin.
    pub(super) fn notice(&mut self, event: &ServedEvent) {
        let (ServedKind::TaskStarted, Some(id)) = (&event.kind, &event.task_id) else { return };
        let mut path = event.namespace.clone();
        path.push(event.node.clone());
        self.tasks.insert(path, task_uuid(id));
    }

    /// Returns the name of a namespace.
    pub(super) fn name(&self, path: &[String]) -> String {
        let mut name = String::new();
        for (index, node) in path.iter().enumerate() {
            if index > 0 {
                name.push('|');
            }
            name.push_str(node);
            if let Some(task) = path.get(..=index).and_then(|path| self.tasks.get(path)) {
                name.push(':');
                name.push_str(task);
            }
        }
        name
    }
}
