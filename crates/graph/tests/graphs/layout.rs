//! Where nodes stand when a tool is drawn.

use std::fmt::Write as _;
use std::time::Instant;

use mcpgraph_diagnostics::Source;
use mcpgraph_graph::{Layout, LinkKind, Placed, layout, layout_flat, layout_workflow};

use crate::support;

fn laid(text: &str) -> Layout {
    let (file, _) = mcpgraph_config::read_graph(&Source::new("graph.yaml", text), &|_| None);
    layout(&file.unwrap().tools[0])
}

fn tool(nodes: &str) -> String {
    format!("server: {{ name: a, version: '1' }}\ntools:\n  - name: t\n    nodes:\n{nodes}")
}

fn find<'l>(layout: &'l Layout, key: &str) -> &'l Placed {
    layout.nodes.iter().find(|node| &*node.key == key).unwrap()
}

fn assert_apart(layout: &Layout) {
    for (index, a) in layout.nodes.iter().enumerate() {
        for b in &layout.nodes[index + 1..] {
            let is_apart = a.inside != b.inside
                || a.x + a.width <= b.x
                || b.x + b.width <= a.x
                || a.y + a.height <= b.y
                || b.y + b.height <= a.y;
            assert!(is_apart, "{a:?} and {b:?}");
        }
        if let Some(around) = &a.inside {
            let around = find(layout, around);
            assert!(a.x >= 0 && a.x + a.width <= around.width, "{a:?} in {around:?}");
            assert!(a.y >= 0 && a.y + a.height <= around.height, "{a:?} in {around:?}");
        }
    }
}

#[test]
fn every_kind_of_node_has_its_place() {
    for (name, source) in support::files("drawings") {
        let (file, _) = mcpgraph_config::read_graph(&source, &|_| None);
        let mut text = String::new();
        for tool in &file.unwrap().tools {
            let layout = layout(tool);
            assert_apart(&layout);
            for node in &layout.nodes {
                let inside = node.inside.as_deref().unwrap_or("-");
                let Placed { key, kind, x, y, width, height, .. } = node;
                writeln!(text, "{key} ({kind}) in {inside} at {x},{y}: {width}×{height}").unwrap();
            }
        }
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(format!("{name}-layout"), text);
        });
    }
}

#[test]
fn branches_stand_in_the_order_of_their_rules() {
    let layout = laid(&tool(
        "      - { id: entry, type: entry, next: choose }
      - id: choose
        type: switch
        conditions:
          - { rule: { var: a }, target: first }
          - { rule: { var: b }, target: second }
          - { target: third }
      - { id: third, type: transform, transform: { expr: '3' }, next: exit }
      - { id: second, type: transform, transform: { expr: '2' }, next: exit }
      - { id: first, type: transform, transform: { expr: '1' }, next: exit }
      - { id: exit, type: exit }
",
    ));
    let x = |key| find(&layout, key).x;
    assert!(x("first") < x("second") && x("second") < x("third"));
    assert_eq!(x("second"), x("choose"), "three branches are even");
    assert!(find(&layout, "entry").y < find(&layout, "choose").y);
    assert_apart(&layout);
}

#[test]
fn an_edge_that_leads_back_is_marked() {
    let layout = laid(&tool(
        "      - { id: entry, type: entry, next: step }
      - { id: step, type: transform, transform: { expr: '1' }, next: more, onError: exit }
      - { id: more, type: switch, conditions: [{ rule: { var: a }, target: step }, { target: exit }] }
      - { id: exit, type: exit }
",
    ));
    let back: Vec<_> = layout.links.iter().filter(|link| link.is_back).collect();
    assert_eq!(back.len(), 1);
    assert!(matches!(&back[0].kind, LinkKind::Case { index: 0, .. }));
    assert_eq!((&*back[0].from, &*back[0].to), ("more", "step"));
    let error = layout.links.iter().find(|link| link.kind == LinkKind::Error).unwrap();
    assert_eq!(error.bends.len(), 1, "it passes the layer of the switch");
}

#[test]
fn a_graph_with_errors_is_drawn_as_far_as_it_can_be() {
    let layout = laid(&tool(
        "      - { id: a, type: transform, transform: { expr: '1' }, next: nowhere }
      - { id: a, type: entry, next: a }
      - { type: odd }
",
    ));
    let keys: Vec<&str> = layout.nodes.iter().map(|node| &*node.key).collect();
    assert_eq!(keys, ["a", "a (2)", "#3"]);
    assert_apart(&layout);
}

#[test]
fn a_thousand_nodes_are_laid_out_at_once() {
    let mut nodes = String::from("      - { id: entry, type: entry, next: n0 }\n");
    for n in 0..1000 {
        // Some arrows lead far down, some back.
        let (near, far) = (n + 1, (n * 7 + 13) % 1000);
        writeln!(
            nodes,
            "      - {{ id: n{n}, type: switch, conditions: [{{ rule: {{ var: a }}, target: n{far} }}, {{ target: n{near} }}] }}"
        )
        .unwrap();
    }
    nodes.push_str("      - { id: n1000, type: exit }\n");
    let text = tool(&nodes);
    let began = Instant::now();
    let layout = laid(&text);
    assert_eq!(layout.nodes.len(), 1002);
    assert!(began.elapsed().as_secs() < 10, "{:?}", began.elapsed());
}

#[test]
fn a_workflow_is_drawn_whichever_way_its_edges_are_written() {
    let text = "
server: { name: a, version: '1' }
workflows:
  - name: w
    workflowType: tools/call
    nodes:
      - { id: start, type: start, next: [note, choose] }
      - { id: note, type: hook, hook: { script: '', blocking: false } }
      - { id: choose, type: switch, conditions: [{ rule: { var: request }, target: call }], next: end }
      - { id: call, type: mcp-call }
      - { id: end, type: end }
    edges:
      - { source: call, target: end }
      - { source: call, target: nowhere }
";
    let (file, _) = mcpgraph_config::read_graph(&Source::new("graph.yaml", text), &|_| None);
    let layout = layout_workflow(&file.unwrap().workflows[0]);
    assert_apart(&layout);
    let links: Vec<String> =
        layout.links.iter().map(|link| format!("{} {}", link.from, link.to)).collect();
    assert_eq!(links, ["start note", "start choose", "choose call", "choose end", "call end"]);
    assert!(find(&layout, "start").y < find(&layout, "choose").y);
    assert!(find(&layout, "call").y < find(&layout, "end").y);
}

#[test]
fn any_flat_graph_can_be_drawn() {
    let nodes = ["a", "b", "c"].map(|id| (id.into(), "task")).to_vec();
    let word = LinkKind::Worded("yes".into());
    let links = vec![(0, 1, word.clone()), (1, 0, LinkKind::Next), (1, 7, LinkKind::Next)];
    let layout = layout_flat(nodes, links, 0);
    assert_apart(&layout);
    assert_eq!(layout.nodes.len(), 3);
    assert_eq!(layout.links.len(), 2);
    assert!(layout.links[0].kind == word && layout.links[1].is_back);
}

#[test]
fn a_node_stands_where_somebody_put_it() {
    let text = tool(
        "      - { id: entry, type: entry, next: a }
      - { id: a, type: transform, transform: { expr: '1' }, next: exit, position: { x: -500, y: 40 } }
      - { id: exit, type: exit }\n",
    );
    let layout = laid(&text);
    let (entry, a) = (find(&layout, "entry"), find(&layout, "a"));
    assert_eq!((a.x, a.y, a.is_pinned), (-500, 40, true));
    assert_eq!((entry.x, entry.y, entry.is_pinned), (0, 0, false));
    assert_apart(&layout);
}

#[test]
fn cards_make_room_for_those_that_were_placed() {
    let text = tool(
        "      - { id: entry, type: entry, next: a }
      - { id: a, type: transform, transform: { expr: '1' }, next: exit, position: { x: 10, y: 20 } }
      - { id: exit, type: exit, position: { x: 60, y: 30 } }\n",
    );
    let layout = laid(&text);
    let (entry, a, exit) = (find(&layout, "entry"), find(&layout, "a"), find(&layout, "exit"));
    assert_eq!((a.x, a.y), (10, 20));
    assert!(exit.x >= a.x + a.width && exit.y == 30, "{exit:?}");
    assert!(entry.x >= exit.x + exit.width, "{entry:?}");
    assert_apart(&layout);
}

#[test]
fn a_new_node_stands_beside_what_leads_to_it() {
    let node = |id: &str, next: &str, place: &str| {
        format!(
            "      - {{ id: {id}, type: transform, transform: {{ expr: '1' }}, next: {next}{place} }}\n"
        )
    };
    let text = tool(
        &[
            "      - { id: entry, type: entry, next: a, position: { x: 5000, y: 0 } }\n".to_owned(),
            node("a", "new", ", position: { x: 5000, y: 140 }"),
            node("new", "b", ""),
            node("b", "exit", ", position: { x: 5600, y: 140 }"),
            "      - { id: exit, type: exit, position: { x: 5600, y: 280 } }\n".to_owned(),
        ]
        .concat(),
    );
    let layout = laid(&text);
    let (a, new) = (find(&layout, "a"), find(&layout, "new"));
    assert_eq!(new.x, a.x);
    assert!(new.y > a.y + a.height, "{new:?}");
    assert_apart(&layout);
}

#[test]
fn places_that_are_none_are_not_followed() {
    for position in ["{ x: 1 }", "{ x: a, y: 1 }", "{ x: 1.0e+300, y: 0 }", "{ x: .nan, y: 0 }"] {
        let text = tool(&format!(
            "      - {{ id: entry, type: entry, next: exit, position: {position} }}
      - {{ id: exit, type: exit }}\n"
        ));
        let layout = laid(&text);
        assert!(layout.nodes.iter().all(|node| !node.is_pinned), "{position}");
    }
}

fn workflow(places: [(i32, i32); 3]) -> Layout {
    let [start, call, end] = places.map(|(x, y)| format!("position: {{ x: {x}, y: {y} }}"));
    let text = format!(
        "server: {{ name: a, version: '1' }}\ntools: []\nworkflows:
  - name: w
    workflowType: tools/call
    nodes:
      - {{ id: start, type: start, next: call, {start} }}
      - {{ id: call, type: mcp-call, next: end, {call} }}
      - {{ id: end, type: end, {end} }}\n"
    );
    let (file, _) = mcpgraph_config::read_graph(&Source::new("graph.yaml", text), &|_| None);
    layout_workflow(&file.unwrap().workflows[0])
}

#[test]
fn a_workflow_is_drawn_as_its_editor_drew_it_if_the_cards_fit() {
    let drawn = workflow([(0, 0), (300, 0), (600, 0)]);
    assert!(drawn.nodes.iter().all(|node| node.is_pinned));
    assert_eq!(find(&drawn, "end").x, 600);
    let crowded = workflow([(0, 0), (125, 0), (250, 0)]);
    assert!(crowded.nodes.iter().all(|node| !node.is_pinned));
    assert_apart(&crowded);
}
