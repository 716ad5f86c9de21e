import { useVisit } from '../../frame/context.js';
import { named } from '../../texts/texts.js';

/** How an attempt ended: the status of the answer, or why there is none. */
export const AttemptOutcome = ({
  of,
  mayCome = false,
}: {
  /** There may be one later. */
  readonly mayCome?: boolean;
  readonly of: { readonly statusCode: number | null; readonly error: string | null } | null;
}) => {
  const { texts } = useVisit();
  if (of === null)
    return <span class="soft">{mayCome ? texts.deliveries.noAnswer : texts.deliveries.neverAnswered}</span>;
  const { statusCode, error } = of;
  const said = error === null ? texts.states.succeeded : named(texts.attemptErrors, error);
  return (
    <span class={error === null ? 'good' : 'bad'}>
      {statusCode === null ? said : `${statusCode} · ${said}`}
    </span>
  );
};
