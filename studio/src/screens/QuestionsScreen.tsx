import { useEffect, useState } from 'react';
import { api, messageOf } from '../api/client';
import type { Question } from '../api/types';
import { faults, formWith } from '../model/form';
import { moment } from '../model/format';
import { fields } from '../model/schema';
import { SchemaForm } from '../panels/SchemaForm';
import { useKeys } from '../state/keys';
import { notify } from '../state/notices';
import { useQuestions } from '../state/questions';
import { openRun } from '../state/subject';
import { Button } from '../ui/Button';
import { Empty } from '../ui/Empty';

/** How often questions are looked for that nobody told of. */
const LOOK_MS = 2000;

/** What runs wait for: each question with a form for its answer. */
export function QuestionsScreen() {
  const { questions, failure, look } = useQuestions();
  useKeys({ editor: null });
  useEffect(() => {
    void look();
    const timer = setInterval(() => document.visibilityState === 'visible' && void look(), LOOK_MS);
    return () => clearInterval(timer);
  }, [look]);
  return (
    <div className="page">
      <div className="page-head">
        <h1>Questions</h1>
        <span className="muted">What runs wait for; the first answer counts</span>
      </div>
      <div className="page-body">
        {failure && <p className="callout bad">{failure}</p>}
        {questions?.length === 0 && (
          <Empty title="Nothing waits for an answer">
            <p>A node of the type ask stops its run until a person has answered:</p>
            <pre>{'- id: approve\n  type: ask\n  message: Send it?\n  next: send'}</pre>
          </Empty>
        )}
        <div className="servers">
          {questions?.map((question) => (
            <Card key={question.id} question={question} onChange={look} />
          ))}
        </div>
      </div>
    </div>
  );
}

interface CardProps {
  question: Question;
  onChange: () => Promise<void>;
}

function Card({ question, onChange }: CardProps) {
  const [answer, setAnswer] = useState(() => formWith({}));
  const [isAsked, setAsked] = useState(false);
  const missing = faults(question.schema, answer);
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const say = async (send: () => Promise<unknown>, done: string) => {
    setBusy(true);
    try {
      await send();
      notify('info', done);
    } catch (error) {
      setProblem(messageOf(error));
    } finally {
      setBusy(false);
      await onChange();
    }
  };
  const open = async () => {
    try {
      openRun(await api.run(question.run));
    } catch (error) {
      notify('error', messageOf(error));
    }
  };
  return (
    <article className="server" aria-label={`${question.tool}: ${question.message}`}>
      <div className="row">
        <h2 className="truncate">{question.tool}</h2>
        <span className="muted truncate">{question.node}</span>
        <span className="spread" />
        <Button look="quiet" onClick={() => void open()}>
          Open the run
        </Button>
      </div>
      <p>{question.message}</p>
      <p className="muted">
        Asked {moment(question.askedAt)}, can be answered until {moment(question.expiresAt)}
        {question.caller && `, by a call of ${question.caller}`}
      </p>
      <form
        className="stack"
        aria-label={`Answer to ${question.node}`}
        onSubmit={(event) => {
          event.preventDefault();
          setAsked(true);
          if (missing.size > 0) return;
          void say(() => api.answer(question.id, answer.input), 'The answer was given');
        }}
      >
        {fields(question.schema).length > 0 && (
          <SchemaForm
            schema={question.schema}
            form={answer}
            missing={isAsked ? missing : undefined}
            onChange={setAnswer}
          />
        )}
        {problem && (
          <p className="callout bad" role="alert">
            {problem}
          </p>
        )}
        <div className="row">
          <Button look="primary" icon="check" type="submit" disabled={isBusy}>
            Answer
          </Button>
          <Button
            icon="cross"
            disabled={isBusy}
            onClick={() => void say(() => api.decline(question.id), 'The question was declined')}
          >
            Decline
          </Button>
        </div>
      </form>
    </article>
  );
}
