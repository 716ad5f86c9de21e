import type { ComponentChildren } from 'preact';
import { PostForm } from '../../../portal/src/frame/forms.js';
import { State, Table, Time } from '../../../portal/src/frame/parts.js';
import { named } from '../../../portal/src/texts/texts.js';
import type { Finding } from '../commands/doctor/finding.js';
import type { Run } from './run.js';
import type { ConsoleVisit, Part } from './visit.js';

/** Seconds between two looks: at what changes by itself, and at work that was started here. */
export const LOOK_AGAIN = 10;
export const LOOK_SOON = 2;

/** Text that the service itself says, in English. */
export const Said = ({ text }: { readonly text: string }) => (
  <bdi lang="en" class="said">
    {text}
  </bdi>
);

/** A part of a page, or why it is missing. */
export const Shows = <T,>({
  of,
  children,
}: {
  readonly of: Part<T>;
  readonly children: (value: T) => ComponentChildren;
}) =>
  'value' in of ? (
    <>{children(of.value)}</>
  ) : (
    <p class="refusal" role="status">
      <Said text={of.away} />
    </p>
  );

/** A state in the console's words. */
export const Mark = ({ visit: { words }, of }: { readonly visit: ConsoleVisit; readonly of: string }) => (
  <State of={of} label={named(words.states, of)} />
);

const ORDER = ['failure', 'warning', 'ok'];

/** What checks found, the worst first. */
export const Findings = ({
  visit,
  caption,
  of,
  empty,
}: {
  readonly visit: ConsoleVisit;
  readonly caption: string;
  readonly of: readonly Finding[];
  readonly empty: string;
}) => {
  const { words } = visit;
  return (
    <Table
      caption={caption}
      rows={of.toSorted((one, other) => ORDER.indexOf(one.level) - ORDER.indexOf(other.level))}
      empty={empty}
      columns={[
        { head: words.check, cell: ({ check }) => <Said text={check} /> },
        { head: words.state, cell: ({ level }) => <Mark visit={visit} of={level} /> },
        { head: words.finding, cell: ({ message }) => <Said text={message} />, isLong: true },
        { head: words.whatToDo, cell: ({ advice }) => <Said text={advice} />, isLong: true },
      ]}
    />
  );
};

/** Starts work, shows how far it is, and then its result. */
export const RunPart = <T,>({
  visit: { words },
  run: { state },
  action,
  submit,
  children,
}: {
  readonly visit: ConsoleVisit;
  readonly run: Run<T>;
  readonly action: string;
  readonly submit: string;
  readonly children: (result: T) => ComponentChildren;
}) => {
  if (state.is === 'running')
    return (
      <p class="empty" role="status">
        {words.running}{' '}
        <progress value={state.done} max={Math.max(state.total, 1)} aria-label={submit}>
          {state.done}
        </progress>
      </p>
    );
  return (
    <>
      <PostForm action={action} submit={submit} />
      {state.is === 'idle' && <p class="soft">{words.neverRun}</p>}
      {state.is === 'failed' && (
        <p class="refusal" role="alert">
          {words.failedWith} <Said text={state.error} />
        </p>
      )}
      {state.is === 'finished' && (
        <>
          <p class="soft">
            {words.ranAt} <Time at={state.at} />
          </p>
          {children(state.result)}
        </>
      )}
    </>
  );
};
