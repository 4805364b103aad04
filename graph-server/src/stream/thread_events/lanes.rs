use std::collections::{HashMap, VecDeque};

/// Queues that keep the messages of parallel tasks apart.
///
/// The parts of a message do not say to which message they belong. So the messages of one node are sent one after the
/// other: the first task that sends a part has the lane, and the parts of other tasks wait.
#[derive(Debug)]
pub(super) struct Lanes<P>(HashMap<(Vec<String>, String), Lane<P>>);

#[derive(Debug)]
struct Lane<P> {
    task: String,
    waiting: VecDeque<Waiting<P>>,
}

#[derive(Debug)]
struct Waiting<P> {
    task: String,
    parts: Vec<P>,
    ended: bool,
}

impl<P> Default for Lanes<P> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<P> Lanes<P> {
    /// Adds the part of a task's message. Returns the parts that can be sent now.
    pub(super) fn add(
        &mut self,
        namespace: &[String],
        node: &str,
        task: &str,
        part: P,
        is_last: bool,
    ) -> Vec<P> {
        let key = (namespace.to_vec(), node.to_owned());
        let lane = self
            .0
            .entry(key.clone())
            .or_insert_with(|| Lane { task: task.to_owned(), waiting: VecDeque::new() });
        if lane.task != task {
            match lane.waiting.iter_mut().find(|waiting| waiting.task == task && !waiting.ended) {
                Some(waiting) => {
                    waiting.parts.push(part);
                    waiting.ended = is_last;
                }
                None => lane.waiting.push_back(Waiting {
                    task: task.to_owned(),
                    parts: vec![part],
                    ended: is_last,
                }),
            }
            return Vec::new();
        }
        let mut ready = vec![part];
        let mut ended = is_last;
        while ended {
            let Some(next) = lane.waiting.pop_front() else {
                self.0.remove(&key);
                break;
            };
            ready.extend(next.parts);
            lane.task = next.task;
            ended = next.ended;
        }
        ready
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(lanes: &mut Lanes<&'static str>, task: &str, part: &'static str) -> Vec<&'static str> {
        lanes.add(&[], "node", task, part, part.ends_with('.'))
    }

    #[test]
    fn messages_of_one_node_follow_each_other() {
        let mut lanes = Lanes::default();
        assert_eq!(add(&mut lanes, "a", "a1"), ["a1"]);
        assert!(add(&mut lanes, "b", "b1").is_empty());
        assert!(add(&mut lanes, "c", "c1.").is_empty());
        assert!(add(&mut lanes, "b", "b2.").is_empty());
        assert!(add(&mut lanes, "b", "b3").is_empty());
        assert_eq!(add(&mut lanes, "a", "a2."), ["a2.", "b1", "b2.", "c1.", "b3"]);
        assert_eq!(add(&mut lanes, "b", "b4."), ["b4."]);
        assert!(lanes.0.is_empty());
    }

    #[test]
    fn other_nodes_do_not_wait() {
        let mut lanes = Lanes::default();
        assert_eq!(add(&mut lanes, "a", "a1"), ["a1"]);
        assert_eq!(lanes.add(&[], "other", "b", "b1.", true), ["b1."]);
        assert_eq!(lanes.add(&["sub:1".to_owned()], "node", "b", "b1.", true), ["b1."]);
    }
}
