import { useMemo, useRef } from 'react';
import type { Diagnostic } from '../api/types';
import { Code, type CodeHandle } from '../code/Code';
import type { Mark } from '../code/code';
import { fileName, plural } from '../model/format';
import { Places } from '../model/places';
import { useDocument } from '../state/document';
import { useRun } from '../state/run';
import { Icon } from '../ui/Icon';

/** The file as text, with every problem at its place. */
export function TextPane() {
  const { text, document, type } = useDocument();
  const isRun = useRun((state) => state.id !== null);
  const editor = useRef<CodeHandle>(null);
  const report = document?.report;
  // Problems belong to the text they were found in.
  const places = useMemo(() => new Places(document?.text ?? ''), [document?.text]);
  const marks = useMemo(
    () => (report?.diagnostics ?? []).map((problem) => mark(places, problem)),
    [places, report],
  );
  const found = report?.diagnostics ?? [];
  return (
    <section className="text-pane" aria-label="The file as text">
      <div className="panel-head">
        <strong className="truncate" title={document?.file}>
          {fileName(document?.file ?? '')}
        </strong>
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
        key={String(isRun)}
        ref={editor}
        label="Graph file"
        language="yaml"
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
                onClick={() =>
                  editor.current?.reveal(places.offset(problem.line ?? 1, problem.column ?? 1))
                }
              >
                <Icon name="warning" />
                <span>
                  <strong>{problem.code}</strong> {problem.message}
                  {problem.line !== undefined && (
                    <span className="muted"> line {problem.line}</span>
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

function mark(places: Places, problem: Diagnostic): Mark {
  const from = places.offset(problem.line ?? 1, problem.column ?? 1);
  const to = places.offset(
    problem.endLine ?? problem.line ?? 1,
    problem.endColumn ?? (problem.column ?? 1) + 1,
  );
  const message = [`${problem.code} ${problem.message}`, problem.hint].filter(Boolean).join('\n');
  return { from, to, severity: problem.severity, message };
}
