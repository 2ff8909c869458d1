import { useNodeProblems } from './useMarks';

/** What is wrong with a node. */
export function Problems({ id }: { id: string }) {
  return useNodeProblems(id).map((problem) => (
    <div
      key={`${problem.code} ${problem.message}`}
      className={`callout ${problem.severity === 'error' ? 'bad' : 'warn'}`}
    >
      <strong>
        {problem.code} {problem.message}
      </strong>
      {problem.hint && <span className="plain">{problem.hint}</span>}
    </div>
  ));
}
