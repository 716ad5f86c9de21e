import { Command } from 'commander';
import { TOP_COMMANDS } from '../../../apps/ops/src/commands.js';

/** What the arguments below name. The benchmark makes each of them first. */
export interface Named {
  /** A workspace with a plan, and its API key. */
  readonly WS: string;
  readonly KEY: string;
  /** A folder with a sealing key, an operator's keys and the export of a book. */
  readonly DIR: string;
  /** A path where nothing is yet, another one each time. */
  readonly NEW: string;
  /** The month that ended last. */
  readonly MONTH: string;
}

const NOBODY = '7f9c24e8-3b12-4f5e-9c1a-2d8e6b0a4c11';
const AN_EVENT = `reading-${NOBODY}@0`;

/**
 * Arguments of every command. Those that change something change it once, or nothing. Where a command needs what a new
 * stack lacks (a parked stream, a second operator), its time is that of its refusal.
 */
export const ARGUMENTS: Readonly<Record<string, string>> = {
  'workspace create': '--name Bench',
  'workspace list': '',
  'workspace booklet': '--workspace WS --paper by-locale',
  'workspace webhooks': '--workspace WS --external-id on',
  'key issue': '--workspace WS --label bench',
  'key list': '--workspace WS',
  'key rotate': '--key KEY --overlap 60',
  'key revoke': '--key KEY --reason bench',
  'token mint': '--workspace WS --scope keys:read',
  'portal link': '--workspace WS',
  console: '',
  'plan subscribe': '--workspace WS --plan studio',
  'plan change': '--workspace WS --plan pro',
  'plan cancel': '--workspace WS --reference bench',
  'plan show': '--workspace WS',
  'pack add': '--workspace WS --pack sprint --order bench',
  'pack refund': '--workspace WS --pack sprint --order bench --reason bench',
  'credits adjust': '--workspace WS --amount 1 --reason bench --reference bench',
  'credits reverse': `--workspace WS --event ${NOBODY} --reason bench`,
  'corrections list': '',
  'corrections show': NOBODY,
  'corrections approve': NOBODY,
  'corrections reject': `${NOBODY} --reason bench`,
  'corrections withdraw': `${NOBODY} --reason bench`,
  'corrections run': NOBODY,
  'corrections export': '--out NEW',
  'corrections verify': '',
  'operators keygen': '--out NEW',
  'operators add': '--name ada',
  'operators confirm': `ada --digest ${'0'.repeat(64)}`,
  'operators revoke': 'ada --reason bench',
  'operators rotate': '--public-key DIR/operator-public.pem',
  'operators list': '',
  'ledger balance': '--workspace WS',
  'ledger statement': '--workspace WS --format pdf --out NEW',
  'ledger explain': NOBODY,
  'ledger find': 'INC-42',
  'ledger verify': '--all',
  'ledger reconcile': '--all',
  'ledger export': '--workspace WS --format jsonl --out NEW',
  'ledger verify-file': 'DIR/book.jsonl',
  'ledger close': '--workspace WS --period MONTH',
  'ledger month': '--period MONTH --all --key DIR/seal-private.pem --out DIR',
  'ledger seal': '--workspace WS --period MONTH --key DIR/seal-private.pem',
  'ledger keygen': '--out NEW',
  'ledger repair-dates': '--workspace WS --dry-run',
  'webhooks list': '',
  'webhooks health': '',
  'webhooks stats': '--endpoint we_none',
  'webhooks delivery': '--delivery 00000000-0000-4000-8000-000000000000',
  'webhooks replay': '--endpoint we_none --since 2026-01-01T00:00:00Z',
  'webhooks enable': '--endpoint we_none',
  'webhooks export': '--until 2026-01-01 --out NEW',
  'projections list': '',
  'projections status': '',
  'projections lag': '',
  'projections rebuild': 'billing.balance.v1',
  'projections verify': '--all',
  'projections switch': 'billing.balance.v1',
  'projections drop': '--all --unfinished',
  'projections replay': 'billing.balance.v1 --stream credits-WS',
  'projections restore': '--all --dry-run',
  'processes list': '',
  'processes status': '',
  'processes parked': '',
  'processes retry': 'billing.settlement.v1',
  'processes skip': `billing.settlement.v1 --stream reading-${NOBODY} --reason bench`,
  'quarantine list': '',
  'quarantine add': `${AN_EVENT} --reason bench`,
  'quarantine withdraw': `${AN_EVENT} --reason bench`,
  'streams show': 'workspace-WS',
  'streams tail': '--category reading',
  'streams find': '--type WorkspaceOpened',
  events: `--reading ${NOBODY}`,
  erase: NOBODY,
  'keys status': '',
  'keys rewrap': '',
  'keys advance': '',
  'keys retire': '',
  'keys forget': '1',
  'keys remember': '1',
  'keys adopt-digest-key': '',
  'database prepare': '--dry-run',
  'event-store prepare': '',
  audit: '',
  'retention status': '',
  'retention run': '--dry-run',
  migrate: '',
  'readings unreadable': '',
  'readings refund': '--all --reason bench',
  'readings erase-again': '--keys DIR',
  'publications republish': '--content-version 2026.1.1',
  'publications remake': '--all',
  backup: '--to NEW --without-keys',
  'backup verify': 'DIR',
  restore: '--from DIR --dry-run',
  doctor: '',
};

/** They run until somebody ends them. */
export const ENDLESS: readonly string[] = ['streams tail', 'console'];
export const isEndless = (command: string): boolean => ENDLESS.some((one) => command.startsWith(one));

/** Every command of the program, as it is typed. */
export const allCommands = async (): Promise<string[]> => {
  const typed: string[] = [];
  for (const { name, isLeaf, argument, load } of TOP_COMMANDS) {
    const top = new Command(name);
    if (argument) top.argument(...argument);
    (await load())(top);
    if (isLeaf) typed.push(name);
    typed.push(...leavesOf(top).map((path) => path.join(' ')));
  }
  return [...new Set(typed)];
};

const leavesOf = (command: Command): string[][] =>
  command.commands.flatMap((sub) =>
    sub.commands.length === 0
      ? [[command.name(), sub.name()]]
      : leavesOf(sub).map((path) => [command.name(), ...path]),
  );
