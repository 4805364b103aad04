"""The programs that `measure` compiles: each is a main function and modules with the texts in `programs/`."""

from pathlib import Path

TEXTS = Path(__file__).parent / "programs"
NODES = 50

BARE_STATE = """
struct Order {
    item: String,
    total: u32,
    log: Vec<String>,
}
"""

GRAPH_STATE = """
use superstep::checkpoint::MemoryCheckpointer;
use superstep::{END, GraphState, Result, START, StateGraph};

#[derive(GraphState, Clone)]
struct Order {
    #[state(input)]
    item: String,
    total: u32,
    #[state(reducer = append)]
    log: Vec<String>,
}
"""


def text(name):
    return (TEXTS / f"{name}.rs").read_text()


def program(**modules):
    """A program that runs each module."""
    indented = lambda code: "".join(f"    {line}\n" if line else "\n" for line in code.splitlines())
    blocks = [f"mod {name} {{\n{indented(code)}}}\n" for name, code in modules.items()]
    calls = "".join(f"    {name}::run().await?;\n" for name in modules)
    main = (
        '#[tokio::main(flavor = "current_thread")]\n'
        "async fn main() -> Result<(), Box<dyn std::error::Error>> {\n"
        f"{calls}    Ok(())\n}}\n"
    )
    return "\n".join([*blocks, main])


def copies(name, count):
    """The same text several times: the types of each module are its own."""
    return program(**{f"order_{number}": text(name) for number in range(count)})


def bare_chain():
    functions = "".join(
        f"async fn step_{n}(order: &Order) -> String {{\n"
        f'    format!("{{}} passes {n}: {{}}", order.item, order.total + {n})\n}}\n\n'
        for n in range(NODES)
    )
    calls = "".join(f"    let line = step_{n}(&order).await;\n    order.log.push(line);\n" for n in range(NODES))
    return program(chain=(
        f"{BARE_STATE}\n{functions}pub async fn run() -> Result<(), Box<dyn std::error::Error>> {{\n"
        '    let mut order = Order { item: "tea".to_owned(), total: 0, log: Vec::new() };\n'
        f'{calls}    println!("{{:?}}", order.log);\n    Ok(())\n}}\n'
    ))


def graph_chain():
    functions = "".join(
        f"async fn step_{n}(order: &Order) -> OrderUpdate {{\n"
        f'    Order::update().log([format!("{{}} passes {n}: {{}}", order.item, order.total + {n})])\n}}\n\n'
        for n in range(NODES)
    )
    edges = "".join(f"        .edge(step_{n}, step_{n + 1})\n" for n in range(NODES - 1))
    return program(chain=(
        f"{GRAPH_STATE}\n{functions}pub async fn run() -> Result<()> {{\n"
        f"    let graph = StateGraph::<Order>::new()\n        .edge(START, step_0)\n{edges}"
        f"        .edge(step_{NODES - 1}, END)\n        .compile()?;\n"
        "    let graph = graph.with_checkpointer(MemoryCheckpointer::new());\n"
        '    let order = graph.thread("order-1").run(Order::input("tea")).recursion_limit(100).await?.into_state();\n'
        '    println!("{:?}", order.log);\n    Ok(())\n}\n'
    ))


PROGRAMS = {
    "bare": copies("bare", 1),
    "bare_5": copies("bare", 5),
    "bare_chain": bare_chain(),
    "graph": copies("graph", 1),
    "graph_2": copies("graph", 2),
    "graph_5": copies("graph", 5),
    "graph_chain": graph_chain(),
    "approved": copies("approved", 1),
    "approved_2": copies("approved", 2),
    "context": program(first=text("contexts/first")),
    "context_2": program(first=text("contexts/first"), second=text("contexts/second")),
}
