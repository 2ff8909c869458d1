import { plural } from '../model/format';
import { useRun } from '../state/run';
import { useWalk } from '../state/walk';
import { Icon, type IconName } from '../ui/Icon';

const SHOWN: Record<string, { icon: IconName; word: string }> = {
  pending: { icon: 'dot', word: 'to do' },
  in_progress: { icon: 'play', word: 'under way' },
  completed: { icon: 'check', word: 'done' },
};

/** What the agent of the walk wants to do, as it was at the moment that is looked at. */
export function Todos() {
  const run = useRun((state) => state.id);
  const walk = useWalk();
  const todos = walk?.todos ?? [];
  if (run === null) return null;
  const done = todos.filter((todo) => todo.status === 'completed').length;
  return (
    <section aria-label="Todos">
      <h2>
        Todos
        <span className="spread" />
        {todos.length > 0 && `${done} of ${todos.length}`}
      </h2>
      {todos.length === 0 && <p className="muted entry">The agent has no plan yet</p>}
      <ol className="todos" aria-label={plural(todos.length, 'todo')}>
        {todos.map((todo, index) => {
          const shown = SHOWN[todo.status] ?? { icon: 'dot', word: todo.status };
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: a todo is its place in the list
            <li key={index} data-status={todo.status} title={todo.note}>
              <Icon name={shown.icon} />
              <span>
                {todo.content}
                <span className="muted">
                  {shown.word}
                  {todo.completion_node && `, until ${todo.completion_node}`}
                </span>
              </span>
            </li>
          );
        })}
      </ol>
    </section>
  );
}
