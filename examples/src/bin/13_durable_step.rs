//! Shows a durable step: an action that must not happen twice, such as a payment. Once its result is stored, it never runs again.
//! Run with `cargo run -p examples --bin 13_durable_step`.

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

/// External services, whose effects cannot be undone.
#[derive(Default)]
struct Services {
    charges: AtomicU32,
    mails: AtomicU32,
}

impl Services {
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

async fn sell(sale: &Sale, cx: &ContextWith<Services>) -> Result<SaleUpdate> {
    // A crash after the charge, but before its result is stored, repeats the charge: with the same key.
    let key = cx.idempotency_key("charge");
    let receipt = cx.step("charge", cx.context().charge(sale.amount, &key)).await?;
    cx.context().mail(receipt).await?;
    Ok(Sale::update().receipt(receipt).mailed(true))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("sales.db");
    let graph = StateGraph::<Sale>::with_context::<Services>().edge(START, sell).edge(sell, END).compile()?;
    let services = Arc::new(Services::default());

    let thread = graph.with_checkpointer(SqliteCheckpointer::open(&file)?).thread("sale-1");
    let Err(error) = thread.run(Sale::input(250)).context(Arc::clone(&services)).await else {
        unreachable!("the mail server is down")
    };
    println!("{error:?}");

    // Resumes the thread after a failure or a crash. `()`: there is no interrupt to answer.
    let thread = graph.with_checkpointer(SqliteCheckpointer::open(&file)?).thread("sale-1");
    let sale = thread.resume(()).context(Arc::clone(&services)).await?.into_state();
    assert_eq!((sale.receipt, sale.mailed), (Some(100), true));
    assert_eq!(services.charges.load(Ordering::Relaxed), 1);
    assert_eq!(services.mails.load(Ordering::Relaxed), 2);
    Ok(())
}
