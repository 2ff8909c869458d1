//! The words for shapes.

/// The word for a shape that Mermaid names by its own words, old and new.
pub(super) fn name(shape: Option<&str>) -> &'static str {
    let Some(shape) = shape else { return "rectangle" };
    match shape {
        "square" | "squareRect" | "rect" | "rectangle" | "proc" | "process" => "rectangle",
        "diamond" | "diam" | "decision" | "question" | "rhombus" => "rhombus",
        "stadium" | "terminal" | "pill" => "stadium",
        "round" | "rounded" | "roundedRect" | "event" => "rounded",
        "subroutine" | "fr-rect" | "framed-rectangle" | "subproc" | "subprocess" => "subroutine",
        "cylinder" | "cyl" | "database" | "db" => "cylinder",
        "circle" | "circ" => "circle",
        "doublecircle" | "dbl-circ" | "double-circle" => "double circle",
        "ellipse" => "ellipse",
        "hexagon" | "hex" | "prepare" => "hexagon",
        "odd" | "rect_left_inv_arrow" => "asymmetric",
        "lean_right" | "lean-r" | "lean-right" | "in-out" => "parallelogram",
        "lean_left" | "lean-l" | "lean-left" | "out-in" => "parallelogram alt",
        "trapezoid" | "trap-b" | "trapezoid-bottom" | "priority" => "trapezoid",
        "inv_trapezoid" | "trap-t" | "trapezoid-top" | "manual" => "trapezoid alt",
        "doc" | "document" => "document",
        "docs" | "documents" | "st-doc" | "stacked-document" => "documents",
        "delay" | "half-rounded-rectangle" => "delay",
        _ => "other",
    }
}
