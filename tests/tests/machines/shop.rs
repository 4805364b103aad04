//! A machine with a state and a context whose nodes use every kind of return type.

use serde::{Deserialize, Serialize};
use superstep::machine::{End, Machine, To, to};
use superstep::{Context, ContextWith, GraphState, Result, StateView, bail};

#[derive(GraphState, Clone, Debug, PartialEq)]
pub(crate) struct Basket {
    #[state(input)]
    pub(crate) budget: u32,
    #[state(reducer = append)]
    pub(crate) bought: Vec<String>,
    #[state(reducer = add, validate(range(max = 100)))]
    pub(crate) spent: u32,
}

#[derive(StateView)]
#[view(of = Basket)]
pub(crate) struct Money<'a> {
    budget: &'a u32,
    spent: &'a u32,
}

pub(crate) struct Prices(pub(crate) Vec<(&'static str, u32)>);

#[derive(Machine)]
#[machine(nodes(Look, Buy, Leave = "leave"), state = Basket, context = Prices, output = String)]
pub(crate) struct Shop;

#[derive(Serialize, Deserialize)]
pub(crate) struct Look {
    pub(crate) from: usize,
}

impl Look {
    pub(crate) async fn run(&self, prices: &ContextWith<Prices>, money: Money<'_>) -> To<Shop, (Buy, Leave)> {
        match prices.context().0.get(self.from) {
            Some((what, price)) if money.spent + price <= *money.budget => {
                to(Buy { what: (*what).to_owned(), next: self.from + 1 })
            }
            Some(_) => to(Leave),
            None => to(Leave),
        }
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Buy {
    pub(crate) what: String,
    pub(crate) next: usize,
}

impl Buy {
    pub(crate) async fn run(&self, cx: &ContextWith<Prices>) -> Result<(BasketUpdate, Look)> {
        let Some((_, price)) = cx.context().0.iter().find(|(what, _)| *what == self.what) else {
            bail!("there is no {}", self.what);
        };
        Ok((Basket::update().bought([self.what.clone()]).spent(*price), Look { from: self.next }))
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Leave;

impl Leave {
    pub(crate) async fn run(&self, basket: &Basket, cx: &Context) -> (BasketUpdate, End<String>) {
        let bought = basket.bought.join(" and ");
        (Basket::update().bought([format!("left at {}", cx.node())]), End(bought))
    }
}
