/** Where a line and a column (from 1, in characters) are in a text, in UTF-16 units. */
export class Places {
  private readonly starts: number[] = [0];
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1))
      this.starts.push(at + 1);
  }

  offset(line: number, column: number): number {
    const start = this.starts[line - 1];
    if (start === undefined) return this.text.length;
    let at = start;
    for (
      let left = column - 1;
      left > 0 && at < this.text.length && this.text[at] !== '\n';
      left -= 1
    ) {
      at += (this.text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
    }
    return at;
  }
}
