/// The destinations of a route, as `#[to(..)]` names them. Each is listed once.
#[derive(Clone, Copy, Debug)]
pub struct Targets {
    /// The last segments of paths. END is one of them.
    pub nodes: &'static [&'static str],
    /// The names of nodes.
    pub names: &'static [&'static str],
}
