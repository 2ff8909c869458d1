import { useMemo, useRef } from 'react';
import type { Diagnostic } from '../api/types';
import { Code, type CodeHandle } from '../code/Code';
import { nodeAt } from '../model/definition';
import { plural } from '../model/format';
import { Places } from '../model/places';
import { useEditor } from '../state/editor';
import { useRun } from '../state/run';
import { Icon } from '../ui/Icon';
import { marksOf } from './useMarks';

/** The file as text, with every problem at its place. */
export function TextPane() {
  const { text, checkedText, view, report, type, language, title } = useEditor();
  const isRun = useRun((state) => state.id !== null);
  const editor = useRef<CodeHandle>(null);
  // Problems belong to the text they were found in.
  const places = useMemo(() => new Places(checkedText), [checkedText]);
  const place = useMemo(() => {
    // A workflow of the store is checked inside a file of its own: its node says where it is here.
    return (problem: Diagnostic): Diagnostic => {
      if (language === 'yaml' || !view || problem.pointer === undefined) return problem;
      const node = nodeAt(view.definition, problem.pointer.slice(view.pointer.length));
      const found = node === null ? 0 : checkedText.indexOf(`"id": ${JSON.stringify(node)}`);
      const before = checkedText.slice(0, Math.max(found, 0)).split('\n');
      const column = [...(before.at(-1) ?? '')].length + 1;
      return { ...problem, line: before.length, column, endLine: undefined, endColumn: undefined };
    };
  }, [language, view, checkedText]);
  const marks = useMemo(
    () => marksOf((report?.diagnostics ?? []).map(place), checkedText),
    [checkedText, report, place],
  );
  const found = report?.diagnostics ?? [];
  return (
    <section className="text-pane" aria-label="The text">
      <div className="panel-head">
        <strong className="truncate">{title}</strong>
        <span className="spread" />
        {found.length === 0 ? (
          <span className="chip good">no problems</span>
        ) : (
          <span className={`chip ${report?.errors ? 'bad' : 'warn'}`}>
            {plural(found.length, 'problem')}
          </span>
        )}
      </div>
      <Code
        key={`${language} ${isRun}`}
        ref={editor}
        label={language === 'yaml' ? 'Graph file' : 'Workflow'}
        language={language}
        text={text}
        readOnly={isRun}
        undoes={false}
        marks={marks}
        height="100%"
        onChange={type}
      />
      {found.length > 0 && (
        <ul className="problems" aria-label="Problems">
          {found.map((problem) => (
            <li
              key={`${problem.code} ${problem.line} ${problem.column} ${problem.message}`}
              className={problem.severity}
            >
              <button
                type="button"
                onClick={() => {
                  const { line, column } = place(problem);
                  editor.current?.reveal(places.offset(line ?? 1, column ?? 1));
                }}
              >
                <Icon name="warning" />
                <span>
                  <strong>{problem.code}</strong> {problem.message}
                  {problem.line !== undefined && (
                    <span className="muted"> line {place(problem).line}</span>
                  )}
                </span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
