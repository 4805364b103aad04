//! What must not be done twice —a payment, a mail, a call that costs— goes into a step: once its result is kept, it is not
//! run again, however often its node is.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use superstep::{ContextWith, END, GraphState, NodeError, Result, START, StateGraph};
use superstep_sqlite::SqliteCheckpointer;

#[derive(GraphState, Clone, Debug)]
struct Sale {
    #[state(input)]
    amount: u32,
    receipt: Option<u32>,
    mailed: bool,
}

/// The world outside: what was charged stays charged.
#[derive(Default)]
struct World {
    charges: AtomicU32,
    mails: AtomicU32,
}

impl World {
    async fn charge(&self, amount: u32, idempotency_key: &str) -> Result<u32> {
        println!("charging {amount} ({idempotency_key})");
        Ok(100 + self.charges.fetch_add(1, Ordering::Relaxed))
    }

    async fn mail(&self, receipt: u32) -> Result<()> {
        if self.mails.fetch_add(1, Ordering::Relaxed) == 0 {
            return Err(NodeError::msg("the mail server is down"));
        }
        println!("mailing receipt {receipt}");
        Ok(())
    }
}

async fn sell(sale: &Sale, world: &ContextWith<World>) -> Result<SaleUpdate> {
    // A crash between the charge and the keeping of its result runs it again: the key is the same then.
    let key = world.idempotency_key("charge");
    let receipt = world.step("charge", world.context().charge(sale.amount, &key)).await?;
    world.context().mail(receipt).await?;
    Ok(Sale::update().receipt(receipt).mailed(true))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("sales.db");
    let graph = StateGraph::<Sale>::with_context::<World>().edge(START, sell).edge(sell, END).compile()?;
    let world = Arc::new(World::default());

    let thread = graph.with_checkpointer(SqliteCheckpointer::open(&file)?).thread("sale-1");
    let Err(error) = thread.run(Sale::input(250)).context(Arc::clone(&world)).await else {
        unreachable!("the mail server is down")
    };
    println!("{error:?}");

    // After a failure, or a crash, a thread is gone on with; `()` says that there is nothing to answer.
    let thread = graph.with_checkpointer(SqliteCheckpointer::open(&file)?).thread("sale-1");
    let sale = thread.resume(()).context(Arc::clone(&world)).await?.into_state();
    assert_eq!((sale.receipt, sale.mailed), (Some(100), true));
    assert_eq!(world.charges.load(Ordering::Relaxed), 1);
    assert_eq!(world.mails.load(Ordering::Relaxed), 2);
    Ok(())
}
