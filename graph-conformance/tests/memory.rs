//! The store in memory keeps every promise.

use std::thread;

use superstep_conformance::{Place, block_on};
use superstep_store::checkpoint::{CheckpointError, Checkpointer, Fence, MemoryCheckpointer, WriteBatch};

struct Memory(MemoryCheckpointer);

impl Place for Memory {
    type Store = MemoryCheckpointer;

    async fn open(&self) -> Result<MemoryCheckpointer, CheckpointError> {
        Ok(self.0.clone())
    }
}

superstep_conformance::conformance_tests!(Memory(MemoryCheckpointer::new()));

#[test]
fn of_writers_on_many_threads_one_raises_each_epoch() {
    let store = MemoryCheckpointer::new();
    let raise = |store: &MemoryCheckpointer, epoch| {
        let fence = Fence { epoch, head: None };
        let [thread, namespace, origin] = ["t", "", "o"].map(Into::into);
        block_on(store.commit(WriteBatch {
            thread,
            namespace,
            origin,
            fence,
            epoch: epoch + 1,
            writes: vec![],
        }))
    };
    let wins = |store: MemoryCheckpointer| (0..200).filter(|epoch| raise(&store, *epoch).is_ok()).count();
    let won: usize = thread::scope(|scope| {
        let writers: Vec<_> = (0..8).map(|_| scope.spawn(|| wins(store.clone()))).collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).sum()
    });
    let epoch = block_on(store.get("t", "", None)).unwrap().fence.epoch;
    // Each epoch was raised by one writer at most: a second one would have been told that it was overtaken.
    assert_eq!(won as u64, epoch);
    assert!(epoch > 0);
}
