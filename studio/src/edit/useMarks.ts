import { useMemo } from 'react';
import type { Diagnostic } from '../api/types';
import type { Mark } from '../code/code';
import { pointerTo } from '../model/definition';
import { Places } from '../model/places';
import { useEditor } from '../state/editor';

/** The problems of a node. */
export function useNodeProblems(id: string): Diagnostic[] {
  const { view, report } = useEditor();
  return useMemo(() => {
    const at = view && pointerTo(view.definition, id);
    if (!view || !at) return [];
    const place = `${view.pointer}${at}`;
    return (report?.diagnostics ?? []).filter(
      ({ pointer }) => pointer === place || pointer?.startsWith(`${place}/`),
    );
  }, [view, report, id]);
}

/** The problems of a text of a node, at their places in it; `path` says which text. */
export function useMarks(id: string, path: string, text: string): Mark[] {
  const problems = useNodeProblems(id);
  return useMemo(() => {
    const isHere = ({ pointer }: Diagnostic) =>
      pointer?.endsWith(path) || pointer?.includes(`${path}/`);
    const own = problems.filter(isHere).map(({ within, ...problem }) => ({
      ...problem,
      ...NOWHERE,
      ...within,
    }));
    return marksOf(own, text);
  }, [problems, path, text]);
}

const NOWHERE = { line: undefined, column: undefined, endLine: undefined, endColumn: undefined };

/** Problems at their places in a text; one without a place is about all of it. */
export function marksOf(problems: Diagnostic[], text: string): Mark[] {
  const places = new Places(text);
  return problems.map((problem) => markOf(places, problem, text.length));
}

function markOf(places: Places, problem: Diagnostic, length: number): Mark {
  const { line, column, endLine, endColumn, severity, code, message, hint } = problem;
  const start = line ? places.offset(line, column ?? 1) : 0;
  const end = line ? places.offset(endLine ?? line, endColumn ?? (column ?? 1) + 1) : length;
  // What is missing at the end is marked at the last character there is.
  const from = end > start ? start : Math.max(0, Math.min(start, length - 1));
  const to = Math.min(Math.max(end, from + 1), length);
  const text = [`${code} ${message}`, hint].filter(Boolean).join('\n');
  return { from, to, severity, message: text };
}
