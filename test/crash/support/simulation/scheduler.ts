import { Random } from '../../../support/random.js';

export type Server = 'eventStore' | 'postgres';
/** What does not arrive between a process and a server: its requests, or the answers to them. */
export type Cut = 'requests' | 'answers';

/** One run of one process, from its start to its crash. After the crash it receives nothing. */
export interface Life {
  readonly name: string;
  alive: boolean;
  /** Offset of its clock (ms). */
  skewMs: number;
  /** The servers that it does not reach now, or does not hear. */
  readonly cuts: Map<Server, Cut>;
}

interface Task {
  readonly life: Life | null;
  readonly at: number;
  readonly label: string;
  readonly run: () => void;
  readonly timer?: number;
  readonly pauses?: boolean;
}

/** Probability that a process crashes at one await. */
const CRASH = 0.012;
/** Duration of a step (ms): mostly that of a disk or a network, sometimes longer than every lease. */
const STEP_MS = 8;
/** A pause just before a write is the dangerous one, since the data read before may have changed. */
const PAUSE_CHANCE = { read: 0.003, write: 0.02 };
const PAUSE_MS = 130_000;

/**
 * Runs pending steps one after another on its own clock, each time a random one of those due. A step is what a process
 * waits for: an answer of a store, or a timer. Between two steps everything that can run has run.
 */
export class Scheduler {
  readonly random: Random;
  readonly trace: string[] = [];
  /** The time of the world and of the database, milliseconds since the epoch. */
  now: number;
  steps = 0;
  /** While false, nothing crashes or pauses. */
  isRough = true;
  onCrash: (life: Life) => void = () => undefined;
  /** Called after a step and all its consequences. */
  onStep: () => void = () => undefined;
  /** Calls over a cut network, which got no answer. */
  unanswered = 0;
  /** Unfinished steps that take much longer than others. */
  pauses = 0;
  private tasks: Task[] = [];
  private timers = 0;

  constructor(
    readonly seed: number,
    startAt: number,
    private readonly isTraced: boolean,
    /** Resolves when a step has no more consequences: its statements have run, and those who waited have gone on. */
    private readonly settled: () => Promise<void>,
  ) {
    this.random = new Random(seed);
    this.now = startAt;
  }

  /** Schedules work that a process waits for. It is done and answered later, unless the process has crashed. */
  io<T>(
    life: Life,
    label: string,
    effect: () => T | Promise<T>,
    kind: 'read' | 'write' = 'read',
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const answer = (): void => {
        Promise.resolve()
          .then(effect)
          .then(
            (value) => life.alive && resolve(value),
            (error: unknown) => life.alive && reject(error as Error),
          );
      };
      const pauses = this.isRough && this.random.chance(PAUSE_CHANCE[kind]);
      if (pauses) this.pauses += 1;
      const milliseconds = pauses ? this.random.between(1_000, PAUSE_MS) : this.random.between(0, STEP_MS);
      this.tasks.push({ life, at: this.now + milliseconds, label, pauses, run: answer });
    });
  }

  sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => this.after(milliseconds, 'sleep', resolve));
  }

  /** Schedules work of no process: an append on its way, a restarting process. */
  after(milliseconds: number, label: string, run: () => void): void {
    this.tasks.push({ life: null, at: this.now + milliseconds, label, run });
  }

  setTimer(run: () => void, milliseconds: number): number {
    this.timers += 1;
    this.tasks.push({ life: null, at: this.now + milliseconds, label: 'timer', run, timer: this.timers });
    return this.timers;
  }

  clearTimer(timer: number): void {
    this.tasks = this.tasks.filter((task) => task.timer !== timer);
  }

  /** Runs steps until the condition holds. @returns whether it held within that many steps and that much time */
  async until(condition: () => boolean, { steps, milliseconds }: { steps: number; milliseconds: number }) {
    const deadline = this.now + milliseconds;
    for (let taken = 0; taken < steps && this.now < deadline; taken += 1) {
      if (condition()) return true;
      if (!(await this.step())) break;
    }
    return condition();
  }

  /** @returns whether there was a step to run */
  async step(): Promise<boolean> {
    const index = this.choose();
    if (index < 0) return false;
    const task = this.tasks[index]!;
    this.tasks[index] = this.tasks.at(-1)!;
    this.tasks.pop();
    const { life } = task;
    if (task.pauses) this.pauses -= 1;
    if (life && !life.alive) return true;
    this.steps += 1;
    this.note(task);
    const crashes = life !== null && this.isRough && this.random.chance(CRASH);
    // The process crashes before or after the work is done. In both cases it gets no answer.
    if (!crashes || this.random.chance(0.5)) task.run();
    if (crashes) this.crash(life);
    await this.settled();
    this.onStep();
    return true;
  }

  note(task: { readonly life: Life | null; readonly label: string }): void {
    if (!this.isTraced) return;
    this.trace.push(`${new Date(this.now).toISOString()} ${task.life?.name ?? '-'} ${task.label}`);
  }

  private crash(life: Life): void {
    life.alive = false;
    this.note({ life, label: 'CRASHES' });
    this.onCrash(life);
  }

  /** A random one of the due tasks. When none is due, the clock advances to the next. */
  private choose(): number {
    const { tasks, now } = this;
    if (tasks.length === 0) return -1;
    let due = 0;
    let next = Infinity;
    for (let index = 0; index < tasks.length; index += 1) {
      const { at } = tasks[index]!;
      if (at <= now) due += 1;
      else if (at < next) next = at;
    }
    if (due > 0) return this.nthDue(this.random.between(0, due - 1));
    this.now = next;
    return this.choose();
  }

  private nthDue(which: number): number {
    for (let index = 0, due = 0; ; index += 1) {
      if (this.tasks[index]!.at > this.now) continue;
      if (due === which) return index;
      due += 1;
    }
  }
}
