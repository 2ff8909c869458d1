import { StreamLanguage } from '@codemirror/language';

/** JSONata as far as colours need it. */
export const jsonata = StreamLanguage.define<{ inComment: boolean }>({
  name: 'jsonata',
  startState: () => ({ inComment: false }),
  token(stream, state) {
    if (state.inComment) {
      if (stream.skipTo('*/')) {
        stream.match('*/');
        state.inComment = false;
      } else stream.skipToEnd();
      return 'comment';
    }
    if (stream.eatSpace()) return null;
    if (stream.match('/*')) {
      state.inComment = true;
      return 'comment';
    }
    if (stream.match(/^"(?:[^"\\]|\\.)*"?/) || stream.match(/^'(?:[^'\\]|\\.)*'?/)) return 'string';
    if (stream.match(/^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/)) return 'number';
    if (stream.match(/^\$\$?[A-Za-z_]\w*/)) return 'variableName.special';
    if (stream.match(/^(?:true|false|null|and|or|in|function)\b/)) return 'keyword';
    if (stream.match(/^`[^`]*`?/) || stream.match(/^[A-Za-z_]\w*/)) return 'propertyName';
    stream.next();
    return 'operator';
  },
  languageData: { commentTokens: { block: { open: '/*', close: '*/' } } },
});
