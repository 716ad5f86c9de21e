import { JudgeStatements, type JudgedStatement } from '@app/billing/contracts/index.js';
import { readQuarantines } from '@app/event-sourcing/quarantine/quarantine-register.js';
import { isSigned } from '../../catalogues.js';
import type { Session } from '../../session.js';
import { failure, ok, warning, type Finding } from './finding.js';

/** Corrections are looked at for as many days as `ops corrections list` shows. */
const DAYS = 32;
/** Findings, at most. */
const MOST = 20;
const CHECK = 'signed statements';

/**
 * Statements of operators that do not count, and quarantines that have no effect because the statement counts. Looks at
 * the operators, at corrections of the last days, and at streams with quarantines; `ops corrections verify` at all.
 */
export const checkStatements = async ({
  store,
  queries,
  config,
}: Pick<Session, 'store' | 'queries' | 'config'>): Promise<readonly Finding[]> => {
  const streams = (await readQuarantines(store)).all().map(({ stream }) => stream);
  const judged = await queries.execute(new JudgeStatements(streams.filter(isSigned), DAYS));
  if (judged.length > 0 && config.OPERATOR_ROOT_KEYS.length === 0)
    return [
      warning(CHECK, 'not judged: OPERATOR_ROOT_KEYS is not set here', 'Set it as the workers have it.'),
    ];
  const found = judged.flatMap((one) => findingOf(one) ?? []);
  return found.length > 0 ? found.slice(0, MOST) : [ok(CHECK, `${judged.length} judged, all are genuine`)];
};

const findingOf = ({
  stream,
  revision,
  type,
  worth,
  reason,
  isQuarantined,
}: JudgedStatement): Finding | null => {
  const place = `${stream}@${revision}`;
  switch (worth) {
    case 'counts':
      return isQuarantined
        ? failure(
            CHECK,
            `${place} (${type}) counts, so its quarantine has no effect: somebody may have tried to hide it`,
            `Find out who has the event store’s login, then: ops quarantine withdraw ${place} --reason "…"`,
          )
        : null;
    case 'does not count':
      return isQuarantined
        ? null
        : failure(
            CHECK,
            `${place} (${type}) has no effect: ${reason}`,
            `Find out who has the event store’s login, and read it with ops streams show ${stream}. Then: ops quarantine add ${place} --everywhere --reason "…"`,
          );
    case 'unknown':
      return failure(
        CHECK,
        `${place} (${type}) is signed, and stops corrections here: ${reason}`,
        'A newer version of the program wrote it: upgrade this one.',
      );
  }
};
