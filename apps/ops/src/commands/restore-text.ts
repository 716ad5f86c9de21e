export interface Restored {
  /** Where the previous data is now; `null` when there was none. */
  readonly aside: string | null;
  readonly keptOut: number;
  readonly erased: readonly { readonly readingId: string; readonly workspaceId: string }[];
  /** Whether the data from before told what was erased after the backup: the embedded log, or the replaced database. */
  readonly previousLogRead: boolean;
  /** RFC 3339. Until when the list of erased readings is complete; without a list, the time of the backup. */
  readonly listedUntil: string;
}

/** What a restore would do. */
export interface RestorePlan {
  readonly events: number;
  /** What the backup would be loaded into. */
  readonly targets: readonly string[];
  /** Whether existing data would be replaced. */
  readonly replace: boolean;
  /** Readings that the mirror of keys, or the folder beside the backups, lists as erased. */
  readonly staysErased: number;
  /** What keeps the restore from starting, a sentence each. */
  readonly inTheWay: readonly string[];
}

export const planText = (
  takenAt: string,
  { events, targets, replace, staysErased, inTheWay }: RestorePlan,
): readonly string[] => [
  `Would restore the backup of ${takenAt}, with ${events} events, to ${targets.join(', ')}.`,
  ...(replace ? ['It would replace the data there.'] : []),
  ...(staysErased > 0 ? [`${staysErased} readings that are listed as erased would stay so.`] : []),
  ...(inTheWay.length > 0
    ? ['In the way:', ...inTheWay.map((one) => `  - ${one}`)]
    : ['Nothing is in the way.']),
];

/** @param list the folder that lists erased readings */
export const restoredText = (takenAt: string, restored: Restored, list: string): readonly string[] => [
  `Restored the backup of ${takenAt}.`,
  ...(restored.aside ? [`The data from before is in ${restored.aside}.`] : []),
  ...(restored.previousLogRead ? [] : [unknownAfter(restored.listedUntil)]),
  ...nextSteps(restored, list),
];

const unknownAfter = (listedUntil: string): string =>
  `Erasures after ${listedUntil} are unknown: there was no data from before, or it could not be read. Those readings may have returned. Once the worker runs, erase each one that your records show: ops erase <readingId> --yes`;

const nextSteps = ({ erased }: Restored, list: string): readonly string[] => {
  const steps = [
    'Start one worker without the role upkeep, and no API. Embedded: WORKER_ROLES=follow,jobs,webhooks npm start',
    'ops projections lag, until nothing is behind; ops doctor; ops ledger verify --all',
    ...(erased.length > 0
      ? [`ops readings erase-again --keys ${list} --yes: repeats ${erased.length} erasures in the log`]
      : []),
    'ops readings unreadable: what customers paid and cannot read; ops readings refund',
    'Revoke again operators who were revoked after the backup; ops corrections verify',
    'Restart API and workers as usual, and take a new backup.',
  ];
  return ['Next:', ...steps.map((step, index) => `  ${index + 1}. ${step}`)];
};
