//! Pictures of machines.

use expect_test::expect;
use superstep::graph::{Direction, Picture};
use superstep::machine::Machine;
use superstep::{END, START};

use crate::fives::{DivisibleBy5, Fives, Increment};
use crate::shop::{Leave, Look, Shop};

#[test]
fn picture_edges_are_the_return_types_of_nodes() {
    expect![[r#"
        flowchart TD
            n0["DivisibleBy5"]
            n1["Increment"]
            FINISH([END])
            n0 ==> n1
            n0 -.-> FINISH
            n1 ==> n0
    "#]]
    .assert_eq(&Fives::compile().unwrap().to_mermaid());
    expect![[r#"
        digraph "Fives" {
            n0 [label="DivisibleBy5", shape=box];
            n1 [label="Increment", shape=box];
            FINISH [label="END", shape=oval];
            n0 -> n1 [style=bold];
            n0 -> FINISH [style=dashed];
            n1 -> n0 [style=bold];
        }
    "#]]
    .assert_eq(&Fives::compile().unwrap().to_dot());
}

#[test]
fn shape_of_a_machine_begins_anywhere() {
    let shape = Fives::compile().unwrap().shape();
    assert!(shape.begins_anywhere);
    let from_start = shape.edges.iter().filter(|edge| edge.from == "START");
    assert_eq!(from_start.map(|edge| &*edge.to).collect::<Vec<_>>(), ["DivisibleBy5", "Increment"]);
}

#[test]
fn every_format_shows_the_picture_options() {
    let (check, increment) = (Fives::node::<DivisibleBy5>(), Fives::node::<Increment>());
    let picture = Fives::compile()
        .unwrap()
        .picture()
        .title("counting \"up\"")
        .direction(Direction::LeftToRight)
        .start(check)
        .edge_label(check, increment, "not yet")
        .edge_label(check, END, "at last")
        .note(increment, "adds 1\n& <no more>")
        .highlight(check)
        .highlight_named(["Increment", "DivisibleBy5"])
        .highlight_style("fill:black; color:white, stroke-width: 4;");
    expect![[r#"
        ---
        title: "counting \"up\""
        ---
        flowchart LR
            START([START])
            n0["DivisibleBy5"]
            n1["Increment"]
            FINISH([END])
            START ==> n0
            n0 == "not yet" ==> n1
            n0 -. "at last" .-> FINISH
            n1 ==> n0
            n1_note0>"adds 1<br/>#38; #60;no more#62;"]
            n1_note0 -.- n1
            classDef highlighted stroke:#8a8b00,fill:black,color:white,stroke-width:4
            class n0 highlighted
            class n1 highlighted
    "#]]
    .assert_eq(&picture.to_mermaid().unwrap());
    expect![[r##"
        digraph "Fives" {
            label="counting \"up\"";
            labelloc=t;
            rankdir=LR;
            START [shape=oval];
            n0 [label="DivisibleBy5", shape=box, style=filled, fillcolor="black", color="#8a8b00", fontcolor="white", penwidth="4"];
            n1 [label="Increment", shape=box, style=filled, fillcolor="black", color="#8a8b00", fontcolor="white", penwidth="4"];
            n1_note0 [label="adds 1
        & <no more>", shape=note];
            n1_note0 -> n1 [style=dotted, arrowhead=none];
            FINISH [label="END", shape=oval];
            START -> n0 [style=bold];
            n0 -> n1 [label="not yet", style=bold];
            n0 -> FINISH [label="at last", style=dashed];
            n1 -> n0 [style=bold];
        }
    "##]].assert_eq(&picture.to_dot().unwrap());
    let svg = picture.to_svg().unwrap();
    for expected in [
        "aria-label=\"counting &quot;up&quot;\"",
        ".highlighted{stroke-width:4;",
        "fill:black",
        ".highlighted:not(.m)~text{fill:white}",
        ">START</text>",
        ">not yet</text>",
        ">at last</text>",
        ">&amp; &lt;no more&gt;</text>",
        "<title>Increment: highlighted</title>",
    ] {
        assert!(svg.contains(expected), "`{expected}` is missing in {svg}");
    }

    let plain = Fives::compile().unwrap().picture().edge_label(check, END, "at last").without_edge_labels();
    assert_eq!(plain.to_mermaid().unwrap(), Fives::compile().unwrap().to_mermaid());
}

#[test]
fn start_is_drawn_only_if_an_option_mentions_it() {
    let fives = Fives::compile().unwrap();
    let (check, increment) = (Fives::node::<DivisibleBy5>(), Fives::node::<Increment>());
    let arrows = |picture: Picture<_>| {
        let drawn = picture.to_mermaid().unwrap();
        let arrows = drawn.lines().filter(|line| line.contains("START") && line.contains("=="));
        (drawn.contains("START(["), arrows.map(|line| line.trim().to_owned()).collect::<Vec<_>>())
    };
    assert_eq!(arrows(fives.picture()), (false, vec![]));
    assert_eq!(arrows(fives.picture().start(check)), (true, vec!["START ==> n0".to_owned()]));
    assert_eq!(
        arrows(fives.picture().start(check).start(increment).without_edge_labels()),
        (true, vec!["START ==> n0".to_owned(), "START ==> n1".to_owned()])
    );
    assert_eq!(
        arrows(fives.picture().edge_label(START, increment, "or here")),
        (true, vec!["START == \"or here\" ==> n1".to_owned()])
    );
    assert_eq!(arrows(fives.picture().note(START, "anywhere")), (true, vec![]));
    assert_eq!(arrows(fives.picture().highlight(START)), (true, vec![]));
}

#[test]
fn all_picture_problems_are_reported_together() {
    let shop = Shop::compile().unwrap();
    let (look, leave) = (Shop::node::<Look>(), Shop::node::<Leave>());
    let picture = shop
        .picture()
        .start(END)
        .edge_label(look, END, "a")
        .edge_label(leave, look, "b")
        .highlight_style("fill:url(x)")
        .highlight_named(["x"]);
    let expected = "graph `Shop`: the picture cannot be drawn: no edge or route leads from `START` to `END`; no edge or route leads from `Look` to \
                `END`; no edge or route leads from `leave` to `Look`; `fill:url(x)` is not a `property:value` pair of letters, digits, `#`, \
                `.` and `-`; the graph has no node `x`";
    for error in [picture.to_mermaid(), picture.to_dot(), picture.to_svg()] {
        assert_eq!(error.unwrap_err().to_string(), expected);
    }
}

#[test]
fn highlight_style_cannot_end_its_declaration() {
    let fives = Fives::compile().unwrap();
    for css in
        ["}</style><script>", "fill", "fill:", ":red", "fill:red}", "fill:\"red\"", "fill:%%{init}%%", "f(:a"]
    {
        let error = fives.picture().highlight_style(css).to_svg().unwrap_err();
        assert_eq!(error.kind().name(), "InvalidPicture", "{css}");
    }
    fives.picture().highlight_style("").to_svg().unwrap();
}
