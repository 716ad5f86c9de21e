import { setTimeout as sleep } from 'node:timers/promises';
import type { Launched } from './launched.js';
import type { LogFile } from './log-file.js';
import { StackError } from './stack-error.js';

const MOST_RESTARTS = 5;
const RESTART_WINDOW_MS = 60_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

export interface Service<Ready> {
  readonly name: string;
  readonly log: LogFile;
  /** The signal that requests a graceful stop. */
  readonly stopSignal: 'SIGTERM' | 'SIGINT';
  launch(): Launched<Ready>;
}

export interface SupervisorEvents {
  say(line: string): void;
  /** Resolves when there is room to start a service; default: at once. @returns whether it had to wait */
  untilRoom?(): Promise<boolean>;
  /** A service runs again, with a new process id. */
  onRestart(): void;
  /** A service could not be kept running; the message names it and its log. */
  onGivenUp(message: string): void;
}

/** Keeps one child running. Restarts it when it dies, at most 5 times in a minute and with increasing pauses. */
export class Supervisor<Ready> {
  private current?: Launched<Ready>;
  private stopping = false;
  private restarts: number[] = [];

  constructor(
    private readonly service: Service<Ready>,
    private readonly events: SupervisorEvents,
  ) {}

  /** Starts the child. @throws Error with the last lines of its output if it does not become ready */
  async start(): Promise<Ready> {
    if (this.stopping) throw new Error(`${this.service.name} is not started: the stack is stopping`);
    const launched = this.service.launch();
    this.current = launched;
    try {
      const ready = await launched.ready;
      void launched.exited.then((how) => this.onExit(launched, how));
      return ready;
    } catch (error) {
      await launched.exited;
      throw new StackError(
        `${(error as Error).message}; see ${this.service.log.path}\n${this.service.log.lastLines(5)}`,
      );
    }
  }

  /** Asks the child to stop, and kills it after `withinMs`. Resolves when it is gone. */
  async stop(withinMs: number): Promise<void> {
    this.stopping = true;
    if (this.current) await this.end(this.current, withinMs);
  }

  private async end(launched: Launched<Ready>, withinMs: number): Promise<void> {
    launched.kill(this.service.stopSignal);
    const force = setTimeout(() => launched.kill('SIGKILL'), withinMs);
    await launched.exited;
    clearTimeout(force);
  }

  private async onExit(launched: Launched<Ready>, how: string): Promise<void> {
    const isReplaced = () => this.stopping || this.current !== launched;
    let reason = how;
    while (!isReplaced()) {
      // On a full disk, a service dies through no fault of its own.
      if (await this.events.untilRoom?.()) this.restarts = [];
      if (isReplaced()) return;
      const now = Date.now();
      this.restarts = [...this.restarts.filter((at) => now - at < RESTART_WINDOW_MS), now];
      if (this.restarts.length > MOST_RESTARTS) {
        this.events.onGivenUp(
          `${this.service.name} ended ${this.restarts.length} times within a minute (${reason}); see ${this.service.log.path}`,
        );
        return;
      }
      this.events.say(
        `${this.service.name} ended (${reason}); restarting it. Its log: ${this.service.log.path}`,
      );
      await sleep(Math.min(FIRST_PAUSE_MS * 2 ** (this.restarts.length - 1), LONGEST_PAUSE_MS));
      if (isReplaced()) return;
      try {
        await this.start();
        this.events.onRestart();
        return;
      } catch (error) {
        reason = (error as Error).message;
        launched = this.current ?? launched;
      }
    }
  }
}
