//! The words for shapes.

/// The word for a shape that Mermaid names by its own words, old and new; each of these words is its
/// own word.
pub fn shape(word: &str) -> &'static str {
    match word {
        "square" | "squareRect" | "rect" | "rectangle" | "proc" | "process" => "rectangle",
        "diamond" | "diam" | "decision" | "question" | "rhombus" => "rhombus",
        "stadium" | "terminal" | "pill" => "stadium",
        "round" | "rounded" | "roundedRect" | "event" => "rounded",
        "subroutine" | "fr-rect" | "framed-rectangle" | "subproc" | "subprocess" => "subroutine",
        "cylinder" | "cyl" | "database" | "db" => "cylinder",
        "circle" | "circ" => "circle",
        "doublecircle" | "dbl-circ" | "double-circle" | "double circle" => "double circle",
        "ellipse" => "ellipse",
        "hexagon" | "hex" | "prepare" => "hexagon",
        "odd" | "rect_left_inv_arrow" | "asymmetric" => "asymmetric",
        "lean_right" | "lean-r" | "lean-right" | "in-out" | "parallelogram" => "parallelogram",
        "lean_left" | "lean-l" | "lean-left" | "out-in" | "parallelogram alt" => {
            "parallelogram alt"
        }
        "trapezoid" | "trap-b" | "trapezoid-bottom" | "priority" => "trapezoid",
        "inv_trapezoid" | "trap-t" | "trapezoid-top" | "manual" | "trapezoid alt" => {
            "trapezoid alt"
        }
        "doc" | "document" => "document",
        "docs" | "documents" | "st-doc" | "stacked-document" => "documents",
        "delay" | "half-rounded-rectangle" => "delay",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::shape;

    #[test]
    fn a_word_for_a_shape_is_its_own_word() {
        let all = [
            "rectangle",
            "rhombus",
            "stadium",
            "rounded",
            "subroutine",
            "cylinder",
            "circle",
            "double circle",
            "ellipse",
            "hexagon",
            "asymmetric",
            "parallelogram",
            "parallelogram alt",
            "trapezoid",
            "trapezoid alt",
            "document",
            "documents",
            "delay",
            "other",
        ];
        for word in all {
            assert_eq!(shape(word), word);
        }
        assert_eq!(shape("nobody knows"), "other");
    }
}
