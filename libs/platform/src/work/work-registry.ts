import { Injectable } from '@nestjs/common';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import type { Consumer } from '#event-sourcing/projections/consumer.js';
import type { WorkerRole } from '../config/settings.js';
import type { JobTask } from '../jobs/job.js';

/** Work that runs until the signal aborts, such as a dispatcher. It resolves once it has released all it held. */
export interface WorkLoop {
  readonly name: string;
  /** Default: `upkeep`. */
  readonly role?: WorkerRole;
  run(signal: AbortSignal): Promise<void>;
}

/**
 * The work of a worker process. Modules register their parts during initialisation; the worker then starts them all.
 */
@Injectable()
export class WorkRegistry {
  readonly consumers: Consumer[] = [];
  readonly jobs: JobTask[] = [];
  readonly loops: WorkLoop[] = [];
  private readonly observers = new Map<string, (events: readonly StoredEvent[]) => void>();

  addConsumer(consumer: Consumer): void {
    this.consumers.push(consumer);
  }

  addJob(task: JobTask): void {
    this.jobs.push(task);
  }

  addLoop(loop: WorkLoop): void {
    this.loops.push(loop);
  }

  /** For measurements: the observer receives what a consumer handled, once its checkpoint has advanced. */
  onHandled(consumer: string, observer: (events: readonly StoredEvent[]) => void): void {
    this.observers.set(consumer, observer);
  }

  /** The consumers with their observers. */
  observedConsumers(): readonly Consumer[] {
    return this.consumers.map((consumer) => {
      const handled = this.observers.get(consumer.name);
      return handled ? { ...consumer, handled } : consumer;
    });
  }
}
