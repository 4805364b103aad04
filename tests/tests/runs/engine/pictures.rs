//! Pictures of graphs.

use expect_test::expect;
use serde::{Deserialize, Serialize};
use superstep::checkpoint::MemoryCheckpointer;
use superstep::graph::{Direction, Mark};
use superstep::interrupt::Question;
use superstep::subgraph::Subgraph;
use superstep::{Context, END, Graph, Route, START, StateGraph, bail, named};

use crate::engine::trace::{Trace, TraceUpdate, block_on, nodes};

nodes! { a b gather }

#[derive(Serialize, Deserialize)]
struct Item(u32);

#[derive(Route)]
enum Way {
    #[to(item)]
    Each(Item),
    #[to(a, b)]
    #[route(label = "both \"of\" <them>")]
    Both,
    #[to(END)]
    Out,
}

async fn item(_: &Item) -> TraceUpdate {
    TraceUpdate::default()
}

fn decide(_: &Trace) -> Vec<Way> {
    vec![Way::Each(Item(1)), Way::Both, Way::Out]
}

fn graph() -> Graph<Trace> {
    let odd = named("say \"end\" \\ & <go>", async |_: &Trace| {});
    StateGraph::<Trace>::new()
        .name("a \"picture\"")
        .route(START, decide)
        .join((a, b, item), gather)
        .edge(gather, &odd)
        .edge(odd, (END, a))
        .defer(gather)
        .compile()
        .unwrap()
}

#[test]
fn mermaid_shows_edges_routes_packets_joins_and_deferred_nodes() {
    expect![[r#"
        flowchart TD
            START([START])
            n0["a"]
            n1["b"]
            n2["item"]
            n3(["gather"])
            n4["say #34;end#34; \ #38; #60;go#62;"]
            FINISH([END])
            j0(("+"))
            START == "Each" ==> n2
            START -. "both #34;of#34; #60;them#62;" .-> n0
            START -. "both #34;of#34; #60;them#62;" .-> n1
            START -. "Out" .-> FINISH
            n3 --> n4
            n4 --> FINISH
            n4 --> n0
            n0 --> j0
            n1 --> j0
            n2 --> j0
            j0 --> n3
    "#]]
    .assert_eq(&graph().to_mermaid());
}

#[test]
fn dot_shows_the_same_as_mermaid() {
    expect![[r#"
        digraph "a \"picture\"" {
            START [shape=oval];
            n0 [label="a", shape=box];
            n1 [label="b", shape=box];
            n2 [label="item", shape=box];
            n3 [label="gather", shape=oval];
            n4 [label="say \"end\" \\ & <go>", shape=box];
            FINISH [label="END", shape=oval];
            j0 [label="+", shape=circle];
            START -> n2 [label="Each", style=bold];
            START -> n0 [label="both \"of\" <them>", style=dashed];
            START -> n1 [label="both \"of\" <them>", style=dashed];
            START -> FINISH [label="Out", style=dashed];
            n3 -> n4;
            n4 -> FINISH;
            n4 -> n0;
            n0 -> j0;
            n1 -> j0;
            n2 -> j0;
            j0 -> n3;
        }
    "#]]
    .assert_eq(&graph().to_dot());
}

#[test]
fn graph_without_end_draws_no_end() {
    let graph = StateGraph::<Trace>::new().edge(START, a).edge(a, b).edge(b, a).compile().unwrap();
    expect![[r#"
        flowchart TD
            START([START])
            n0["a"]
            n1["b"]
            START --> n0
            n0 --> n1
            n1 --> n0
    "#]]
    .assert_eq(&graph.to_mermaid());
    assert!(!graph.to_dot().contains("FINISH"));
}

#[test]
fn mermaid_escapes_special_characters() {
    let (code, entity) = (named("`code`", a), named("a#35;b\n%%{init}%%", b));
    let graph = StateGraph::<Trace>::new().edge(START, &code).edge(&code, &entity).edge(&entity, END);
    let picture = graph.compile().unwrap().to_mermaid();
    assert!(picture.contains(r##"n0["#96;code#96;"]"##), "a backtick would begin Markdown: {picture}");
    assert!(picture.contains(r##"n1["a#35;35#59;b#10;#37;#37;{init}#37;#37;"]"##), "{picture}");
}

#[test]
fn svg_is_self_contained() {
    expect![[r#"
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 409 410" width="409" height="410" class="graph-picture" role="img" aria-label="a &quot;picture&quot;">
        <title>a &quot;picture&quot;</title>
        <style>
        .graph-picture text{font:13px system-ui,sans-serif;fill:#1f2933;text-anchor:middle}
        .graph-picture .n{fill:#eef2f7;stroke:#66788f}
        .graph-picture .d{stroke-width:2.5}
        .graph-picture .c{fill:#66788f;fill-opacity:.1;stroke:#66788f}
        .graph-picture .t{fill:#737373;font-weight:600}
        .graph-picture .s{font-size:11px;font-style:italic}
        .graph-picture .k{font-size:11px}
        .graph-picture .l{fill:#dfe5ec}
        .graph-picture .e{fill:none;stroke:#737373;stroke-width:1.3}
        .graph-picture .r{stroke-dasharray:5 4}
        .graph-picture .p{stroke-width:3}
        .graph-picture .a{fill:#737373}
        </style>
        <defs><marker id="graph-arrow" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto"><path class="a" d="M0 0L8 4L0 8z"/></marker></defs>
        <g transform="translate(12.0 12.0)">
        <g><rect class="n" x="159.2" y="0.0" width="72.0" height="28.0" rx="14.0"/><text x="195.2" y="18.5">START</text></g>
        <g><rect class="n" x="101.1" y="352.0" width="48.0" height="34.0" rx="5.0"/><text x="125.1" y="373.0">a</text></g>
        <g><rect class="n" x="114.7" y="96.0" width="48.0" height="34.0" rx="5.0"/><text x="138.7" y="117.0">b</text></g>
        <g><rect class="n" x="31.7" y="96.0" width="55.0" height="34.0" rx="5.0"/><text x="59.2" y="117.0">item</text></g>
        <g><rect class="n d" x="112.3" y="219.0" width="81.6" height="34.0" rx="17.0"/><text x="153.1" y="240.0">gather</text></g>
        <g><rect class="n" x="72.7" y="285.5" width="160.8" height="34.0" rx="5.0"/><text x="153.1" y="306.5">say &quot;end&quot; \ &amp; &lt;go&gt;</text></g>
        <g><rect class="n" x="280.4" y="355.0" width="53.6" height="28.0" rx="14.0"/><text x="307.2" y="373.5">END</text></g>
        <g><rect class="n" x="86.9" y="162.5" width="24.0" height="24.0" rx="12.0"/><text x="98.9" y="179.0">+</text></g>
        <path class="e p" marker-end="url(#graph-arrow)" d="M195.2 28.0C195.2 48.8 18.6 33.2 18.6 54.0C18.6 66.8 18.6 57.2 18.6 70.0C18.6 90.8 59.2 75.2 59.2 96.0"/>
        <rect class="l" x="0.0" y="54.0" width="37.2" height="16" rx="4"/><text x="18.6" y="66.0" class="k">Each</text>
        <path class="e r" marker-end="url(#graph-arrow)" d="M195.2 28.0C195.2 48.8 268.3 33.2 268.3 54.0C268.3 66.8 268.3 57.2 268.3 70.0C268.3 90.8 261.5 75.2 261.5 96.0C261.5 123.2 261.5 102.8 261.5 130.0C261.5 156.0 261.5 136.5 261.5 162.5C261.5 181.7 261.5 167.3 261.5 186.5C261.5 212.5 261.5 193.0 261.5 219.0C261.5 246.2 261.5 225.8 261.5 253.0C261.5 279.0 261.5 259.5 261.5 285.5C261.5 312.7 261.5 292.3 261.5 319.5C261.5 345.5 125.1 326.0 125.1 352.0"/>
        <rect class="l" x="210.0" y="54.0" width="116.8" height="16" rx="4"/><text x="268.3" y="66.0" class="k">both &quot;of&quot; &lt;them&gt;</text>
        <path class="e r" marker-end="url(#graph-arrow)" d="M195.2 28.0C195.2 48.8 123.6 33.2 123.6 54.0C123.6 66.8 123.6 57.2 123.6 70.0C123.6 90.8 138.7 75.2 138.7 96.0"/>
        <rect class="l" x="65.2" y="54.0" width="116.8" height="16" rx="4"/><text x="123.6" y="66.0" class="k">both &quot;of&quot; &lt;them&gt;</text>
        <path class="e r" marker-end="url(#graph-arrow)" d="M195.2 28.0C195.2 48.8 370.1 33.2 370.1 54.0C370.1 66.8 370.1 57.2 370.1 70.0C370.1 90.8 321.2 75.2 321.2 96.0C321.2 123.2 321.2 102.8 321.2 130.0C321.2 156.0 321.2 136.5 321.2 162.5C321.2 181.7 321.2 167.3 321.2 186.5C321.2 212.5 321.2 193.0 321.2 219.0C321.2 246.2 321.2 225.8 321.2 253.0C321.2 279.0 321.2 259.5 321.2 285.5C321.2 312.7 321.2 292.3 321.2 319.5C321.2 345.5 307.2 326.0 307.2 352.0C307.2 354.4 307.2 352.6 307.2 355.0"/>
        <rect class="l" x="354.7" y="54.0" width="30.7" height="16" rx="4"/><text x="370.1" y="66.0" class="k">Out</text>
        <path class="e" marker-end="url(#graph-arrow)" d="M153.1 253.0C153.1 279.0 153.1 259.5 153.1 285.5"/>
        <path class="e" marker-end="url(#graph-arrow)" d="M153.1 319.5C153.1 345.5 307.2 326.0 307.2 352.0C307.2 354.4 307.2 352.6 307.2 355.0"/>
        <path class="e" marker-end="url(#graph-arrow)" d="M153.1 319.5C153.1 345.5 125.1 326.0 125.1 352.0"/>
        <path class="e" marker-end="url(#graph-arrow)" d="M125.1 352.0C125.1 326.0 44.7 345.5 44.7 319.5C44.7 292.3 44.7 312.7 44.7 285.5C44.7 259.5 44.7 279.0 44.7 253.0C44.7 225.8 44.7 246.2 44.7 219.0C44.7 193.0 98.9 212.5 98.9 186.5"/>
        <path class="e" marker-end="url(#graph-arrow)" d="M138.7 130.0C138.7 156.0 98.9 136.5 98.9 162.5"/>
        <path class="e" marker-end="url(#graph-arrow)" d="M59.2 130.0C59.2 156.0 98.9 136.5 98.9 162.5"/>
        <path class="e" marker-end="url(#graph-arrow)" d="M98.9 186.5C98.9 212.5 153.1 193.0 153.1 219.0"/>
        </g>
        </svg>
    "#]].assert_eq(&graph().to_svg());
}

#[test]
fn picture_options_are_drawn() {
    let picture = graph()
        .picture()
        .title("title: \"quoted\"")
        .direction(Direction::LeftToRight)
        .highlight(a)
        .highlight_named(["b"])
        .mark(item, Mark::Failed)
        .note(gather, "waits for\n<all> of them")
        .edge_label(START, a, "first");
    expect![[r#"
        ---
        title: "title: \"quoted\""
        ---
        flowchart LR
            START([START])
            n0["a"]
            n1["b"]
            n2["! item"]
            n3(["gather"])
            n4["say #34;end#34; \ #38; #60;go#62;"]
            FINISH([END])
            j0(("+"))
            START == "Each" ==> n2
            START -. "first" .-> n0
            START -. "both #34;of#34; #60;them#62;" .-> n1
            START -. "Out" .-> FINISH
            n3 --> n4
            n4 --> FINISH
            n4 --> n0
            n0 --> j0
            n1 --> j0
            n2 --> j0
            j0 --> n3
            n3_note0>"waits for<br/>#60;all#62; of them"]
            n3_note0 -.- n3
            classDef failed fill:#ffcaca,stroke:#c53030,color:#1f2933
            classDef highlighted fill:#fdff32,stroke:#8a8b00,color:#1f2933
            class n0 highlighted
            class n1 highlighted
            class n2 failed
    "#]]
    .assert_eq(&picture.to_mermaid().unwrap());
    expect![[r##"
        digraph "a \"picture\"" {
            label="title: \"quoted\"";
            labelloc=t;
            rankdir=LR;
            START [shape=oval];
            n0 [label="a", shape=box, style=filled, fillcolor="#fdff32", color="#8a8b00"];
            n1 [label="b", shape=box, style=filled, fillcolor="#fdff32", color="#8a8b00"];
            n2 [label="! item", shape=box, style=filled, fillcolor="#ffcaca", color="#c53030"];
            n3 [label="gather", shape=oval];
            n3_note0 [label="waits for
        <all> of them", shape=note];
            n3_note0 -> n3 [style=dotted, arrowhead=none];
            n4 [label="say \"end\" \\ & <go>", shape=box];
            FINISH [label="END", shape=oval];
            j0 [label="+", shape=circle];
            START -> n2 [label="Each", style=bold];
            START -> n0 [label="first", style=dashed];
            START -> n1 [label="both \"of\" <them>", style=dashed];
            START -> FINISH [label="Out", style=dashed];
            n3 -> n4;
            n4 -> FINISH;
            n4 -> n0;
            n0 -> j0;
            n1 -> j0;
            n2 -> j0;
            j0 -> n3;
        }
    "##]]
    .assert_eq(&picture.to_dot().unwrap());
    let svg = picture.to_svg().unwrap();
    assert!(svg.contains(r#"aria-label="title: &quot;quoted&quot;""#), "{svg}");
    assert!(svg.contains("<title>item: failed</title>"), "{svg}");
    assert!(svg.contains("&lt;all&gt; of them"), "{svg}");
    assert!(!picture.without_edge_labels().to_mermaid().unwrap().contains("first"));
}

#[test]
fn all_picture_problems_are_reported_together() {
    async fn stranger(_: &Trace) {}
    let picture = graph()
        .picture()
        .highlight(stranger)
        .highlight_named(["x", "x"])
        .edge_label(a, b, "?")
        .note(b, "fine");
    let error = picture.to_svg().unwrap_err();
    assert_eq!(error.kind().name(), "InvalidPicture");
    assert_eq!(
        error.to_string(),
        "graph `a \"picture\"`: the picture cannot be drawn: the graph has no node `stranger`; the graph has no node `x`; \
         no edge or route leads from `a` to `b`"
    );
}

#[test]
fn svg_escapes_every_character() {
    let odd = named("a\u{0}\u{1b}<script>\u{ffff}&amp;'\"]]>", a);
    let graph = StateGraph::<Trace>::new().edge(START, &odd).edge(&odd, END).compile().unwrap();
    let svg = graph.to_svg();
    assert!(svg.contains("a\u{fffd}\u{fffd}&lt;script&gt;\u{fffd}&amp;amp;'&quot;]]&gt;"), "{svg}");
}

#[derive(Serialize, Deserialize)]
struct Sure;

impl Question for Sure {
    type Answer = bool;
}

async fn asks(_: &Trace, cx: &Context) {
    cx.interrupt(Sure).await;
}

async fn breaks(_: &Trace) -> superstep::Result<()> {
    bail!("it broke")
}

async fn last(_: &Trace) {}

#[test]
fn thread_picture_marks_the_current_nodes() {
    let marks = |svg: &str| -> Vec<String> {
        let titles = svg.split("<title>").skip(2).filter_map(|rest| rest.split("</title>").next());
        titles.map(str::to_owned).collect()
    };
    block_on(async {
        let graph = StateGraph::<Trace>::new().edge(START, (a, asks)).join((a, asks), last).edge(last, END);
        let graph = graph.compile().unwrap().with_checkpointer(MemoryCheckpointer::new());
        let thread = graph.thread("t");
        assert_eq!(
            thread.picture().await.unwrap().to_svg().unwrap(),
            graph.graph().to_svg(),
            "nothing has run yet"
        );
        thread.run(Trace::input()).await.unwrap();
        assert_eq!(
            marks(&thread.picture().await.unwrap().to_svg().unwrap()),
            ["a: finished", "asks: waiting"]
        );
        let asked = thread.interrupts().await.unwrap().only::<Sure>().unwrap();
        thread.resume(asked.answer(true)).interrupt_before(last).await.unwrap();
        assert_eq!(marks(&thread.picture().await.unwrap().to_svg().unwrap()), ["last: planned"]);
        thread.resume(()).await.unwrap();
        assert!(marks(&thread.picture().await.unwrap().to_svg().unwrap()).is_empty());
        let first = thread.history().await.unwrap().pop().unwrap();
        // Its superstep is applied.
        assert_eq!(marks(&graph.graph().picture().at(&first).to_svg().unwrap()), ["START: finished"]);

        let graph = StateGraph::<Trace>::new().edge(START, breaks).edge(breaks, END).compile().unwrap();
        let graph = graph.with_checkpointer(MemoryCheckpointer::new());
        graph.thread("t").run(Trace::input()).await.unwrap_err();
        assert_eq!(marks(&graph.thread("t").picture().await.unwrap().to_svg().unwrap()), ["breaks: failed"]);
    });
}

#[test]
fn subgraph_is_drawn_inside_its_node() {
    let inner = StateGraph::<Trace>::new().edge(START, a).edge(a, END).compile().unwrap();
    let (made, later) = (inner.as_node("made"), Subgraph::lazy("later", move || inner.clone()));
    let graph = StateGraph::<Trace>::new().edge(START, &made).edge(&made, &later).edge(&later, END);
    expect![[r#"
        flowchart TD
            START([START])
            subgraph n0["made"]
                direction TB
                n0_START([START])
                n0_n0["a"]
                n0_FINISH([END])
                n0_START --> n0_n0
                n0_n0 --> n0_FINISH
            end
            n1["later"]
            FINISH([END])
            START --> n0
            n0 --> n1
            n1 --> FINISH
    "#]]
    .assert_eq(&graph.compile().unwrap().to_mermaid());
}
