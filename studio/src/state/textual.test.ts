import { expect, it, vi } from 'vitest';
import { Problem } from '../api/client';
import { beginning, type History } from '../model/history';
import { typing } from './textual';

/** A text with a server that answers when it is told to. */
function edited(text: string) {
  let state: History & { underway: number } = { ...beginning(text), underway: 0 };
  const answers: (() => void)[] = [];
  const answered = <T>(value: T) => new Promise<T>((resolve) => answers.push(() => resolve(value)));
  const travels: string[] = [];
  const textual = typing({
    read: () => state,
    update: (change) => {
      state = { ...state, ...change(state) };
    },
    check: (also) => also?.(),
    onTravel: (from, to) => travels.push(`${from}→${to}`),
  });
  /** The next answer arrives, and everything that follows from it happens. */
  const answer = async () => {
    await vi.waitFor(() => expect(answers).not.toHaveLength(0));
    answers.shift()?.();
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  };
  /** A change that the server makes by writing something behind the text. */
  const append = (more: string) =>
    textual.inOrder(() =>
      textual.renew(
        (now) => answered({ text: now + more }),
        () => {},
      ),
    );
  return { ...textual, append, answer, answered, travels, now: () => state };
}

it('changes are made one after the other, each of what the one before left', async () => {
  const it = edited('a');
  const both = [it.append('b'), it.append('c')];
  expect(it.now().underway).toBe(2);
  await it.answer();
  await it.answer();
  expect(await Promise.all(both)).toEqual([true, true]);
  expect(it.now()).toMatchObject({ text: 'abc', past: ['a', 'ab'], underway: 0 });
});

it('a change is made again of what was typed while it was on its way', async () => {
  const it = edited('a');
  const change = it.append('!');
  await Promise.resolve();
  it.type('ax');
  await it.answer();
  expect(it.now().text).toBe('ax');
  await it.answer();
  expect(await change).toBe(true);
  expect(it.now().text).toBe('ax!');
});

it('what is taken back is the last change, also if it is still on its way', async () => {
  const it = edited('a');
  void it.append('b');
  void it.append('c');
  it.undo();
  await it.answer();
  await it.answer();
  await vi.waitFor(() => expect(it.now().underway).toBe(0));
  expect(it.now()).toMatchObject({ text: 'ab', future: ['abc'] });
  expect(it.travels).toEqual(['abc→ab']);
  it.redo();
  expect(it.now().text).toBe('abc');
});

it('a change that is refused does not keep those after it from being made', async () => {
  const it = edited('a');
  const refusal = new Problem(409, { code: 'conflict', message: 'no' });
  const refused = it.inOrder(() =>
    it.renew(
      () => Promise.reject(refusal),
      () => {},
    ),
  );
  const change = it.append('b');
  expect(await refused).toBe(false);
  await it.answer();
  expect(await change).toBe(true);
  expect(it.now().text).toBe('ab');
});

it('an answer about a text that is another one by now is none', async () => {
  const it = edited('a');
  const asked = it.ask((text) => it.answered(`about ${text}`));
  it.replace('b');
  await it.answer();
  expect(await asked).toBeNull();
  const again = it.ask((text) => it.answered(`about ${text}`));
  await it.answer();
  expect(await again).toBe('about b');
});

it('what is on its way is not for what is edited afterwards', async () => {
  const it = edited('a');
  const change = it.append('b');
  await Promise.resolve();
  it.forget();
  await it.answer();
  expect(await change).toBe(false);
  expect(it.now().text).toBe('a');
});
