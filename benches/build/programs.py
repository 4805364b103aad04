"""The programs that `measure` compiles: each is a main function and modules with the texts in `programs/`."""

from pathlib import Path

TEXTS = Path(__file__).parent / "programs"
NODES = 50
FIELDS = 100

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


def graph_chain(written=False):
    """A chain of nodes. With `written`, the graph is the text of `graph!`."""
    functions = "".join(
        f"async fn step_{n}(order: &Order) -> OrderUpdate {{\n"
        f'    Order::update().log([format!("{{}} passes {n}: {{}}", order.item, order.total + {n})])\n}}\n\n'
        for n in range(NODES)
    )
    edges = "".join(f"        .edge(step_{n}, step_{n + 1})\n" for n in range(NODES - 1))
    built = (
        f"StateGraph::<Order>::new()\n        .edge(START, step_0)\n{edges}        .edge(step_{NODES - 1}, END)\n"
    )
    if written:
        chain = " -> ".join(["START", *(f"step_{n}" for n in range(NODES)), "END"])
        built = f"superstep::graph! {{ state Order; {chain}; }}\n"
    state = GRAPH_STATE.replace("{END, GraphState, Result, START, StateGraph}", "{GraphState, Result}") if written else GRAPH_STATE
    return program(chain=(
        f"{state}\n{functions}pub async fn run() -> Result<()> {{\n"
        f"    let graph = {built}        .compile()?;\n"
        "    let graph = graph.with_checkpointer(MemoryCheckpointer::new());\n"
        '    let order = graph.thread("order-1").run(Order::input("tea")).recursion_limit(100).await?.into_state();\n'
        '    println!("{:?}", order.log);\n    Ok(())\n}\n'
    ))


def fields(line):
    """The fields of the wide state, with types in turn. `line` writes one of them, from its name and its type."""
    types = ["String", "u32", "Option<String>", "Vec<String>"]
    return "".join(line(f"field_{n}", types[n % len(types)]) for n in range(FIELDS))


def serde_fields():
    """What serde's derives make of the wide state, of its update and of its input."""
    derives = "#[derive(Serialize, Deserialize, Clone, Debug, Default)]\n"
    whole = fields(lambda name, ty: f"    {name}: {ty},\n")
    partial = fields(lambda name, ty: f"    {name}: Option<{ty}>,\n")
    structs = f"{derives}struct Wide {{\n{whole}}}\n\n" + "".join(
        f"{derives}struct Wide{name} {{\n{partial}}}\n\n" for name in ("Update", "Input")
    )
    return program(fields=(
        "use serde::{Deserialize, Serialize};\n\n"
        f"{structs}pub async fn run() -> Result<(), serde_json::Error> {{\n"
        "    let wide = serde_json::to_string(&Wide::default())?;\n"
        "    let update: WideUpdate = serde_json::from_str(&wide)?;\n"
        "    let input: WideInput = serde_json::from_value(serde_json::to_value(&update)?)?;\n"
        "    let wide: Wide = serde_json::from_str(&wide)?;\n"
        '    println!("{wide:?} {update:?} {}", serde_json::to_string(&input)?);\n    Ok(())\n}\n'
    ))


def state_fields():
    """The same with a derived state."""
    reducer = lambda ty: "    #[state(reducer = append)]\n" if ty.startswith("Vec") else ""
    whole = fields(lambda name, ty: f"{reducer(ty)}    {name}: {ty},\n")
    return program(fields=(
        "use superstep::GraphState;\nuse superstep::state::{Input as _, Update as _};\n\n"
        f"#[derive(GraphState, Clone, Debug)]\nstruct Wide {{\n{whole}}}\n\n"
        "pub async fn run() -> Result<(), Box<dyn std::error::Error>> {\n"
        "    let wide = Wide::started(Wide::input())?;\n"
        "    let update = WideUpdate::from_json(serde_json::to_value(&wide)?)?;\n"
        "    let input = WideInput::from_json(serde_json::to_value(&wide)?)?;\n"
        "    let wide = Wide::started(input)?.updated(update.clone())?;\n"
        '    println!("{wide:?} {update:?} {}", serde_json::to_string(&update)?);\n    Ok(())\n}\n'
    ))


def state_inputs():
    """A derived state whose fields are all required in its input."""
    whole = fields(lambda name, ty: f"    #[state(input)]\n    {name}: {ty},\n")
    return program(fields=(
        "use superstep::GraphState;\nuse superstep::state::Input as _;\n\n"
        f"#[derive(GraphState, Clone, Debug)]\nstruct Wide {{\n{whole}}}\n\n"
        "pub async fn run() -> Result<(), Box<dyn std::error::Error>> {\n"
        "    let input = WideInput::from_json(serde_json::json!({}))?;\n"
        '    println!("{:?}", Wide::started(input)?);\n    Ok(())\n}\n'
    ))


PROGRAMS = {
    "bare": copies("bare", 1),
    "bare_5": copies("bare", 5),
    "bare_chain": bare_chain(),
    "graph": copies("graph", 1),
    "graph_2": copies("graph", 2),
    "graph_5": copies("graph", 5),
    "graph_chain": graph_chain(),
    "graph_chain_written": graph_chain(written=True),
    "approved": copies("approved", 1),
    "approved_2": copies("approved", 2),
    "serde_fields": serde_fields(),
    "state_fields": state_fields(),
    "state_inputs": state_inputs(),
    "context": program(first=text("contexts/first")),
    "context_2": program(first=text("contexts/first"), second=text("contexts/second")),
}
