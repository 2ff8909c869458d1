pub(crate) struct Alignment;
impl Alignment {
    pub(crate) fn new(_raw: &str, _value: &str, _style: crate::Style) -> Self {
        Self
    }
    pub(crate) fn file_offset(&self, offset: usize) -> usize {
        offset
    }
    pub(crate) fn file_end(&self, offset: usize) -> usize {
        offset
    }
}
