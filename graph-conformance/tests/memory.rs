//! The store in memory passes the suite.

use std::thread;

use superstep_conformance::{TestStore, block_on};
use superstep_store::checkpoint::{CheckpointError, Checkpointer, Fence, MemoryCheckpointer, WriteBatch};

struct Memory(MemoryCheckpointer);

impl TestStore for Memory {
    type Store = MemoryCheckpointer;

    async fn open(&self) -> Result<MemoryCheckpointer, CheckpointError> {
        Ok(self.0.clone())
    }
}

superstep_conformance::conformance_tests!(Memory(MemoryCheckpointer::new()));

#[test]
fn one_of_many_writers_raises_each_epoch() {
    let store = MemoryCheckpointer::new();
    let raise = |store: &MemoryCheckpointer, epoch| {
        let fence = Fence::new(epoch, None);
        block_on(store.commit(WriteBatch::new("t", "o", fence).epoch(epoch + 1)))
    };
    let wins = |store: MemoryCheckpointer| (0..200).filter(|epoch| raise(&store, *epoch).is_ok()).count();
    let won: usize = thread::scope(|scope| {
        let writers: Vec<_> = (0..8).map(|_| scope.spawn(|| wins(store.clone()))).collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).sum()
    });
    let epoch = block_on(store.get("t", "", None)).unwrap().fence.epoch;
    // Each epoch was raised by at most one writer: a second one would have got a conflict.
    assert_eq!(won as u64, epoch);
    assert!(epoch > 0);
}
