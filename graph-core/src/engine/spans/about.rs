/// The description of a run for its tracing span.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// The way in which the run starts: "input", "resume" or "again".
    pub begin: &'static str,
    /// The name of its thread, if any.
    pub thread: Option<&'a str>,
    /// Its id, if the caller gave one.
    pub run_id: Option<&'a str>,
}
