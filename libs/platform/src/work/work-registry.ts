import { Injectable } from '@nestjs/common';
import type { Consumer } from '@app/event-sourcing/projections/consumer.js';
import type { JobTask } from '../jobs/job-runner.js';

/** Work that goes on by itself until the signal aborts, such as a dispatcher. It resolves once it has let go of all it held. */
export interface WorkLoop {
  readonly name: string;
  run(signal: AbortSignal): Promise<void>;
}

/** What a worker process does. Modules add their parts while they are initialised; the worker then starts them all. */
@Injectable()
export class WorkRegistry {
  readonly consumers: Consumer[] = [];
  readonly jobs: JobTask[] = [];
  readonly loops: WorkLoop[] = [];

  addConsumer(consumer: Consumer): void {
    this.consumers.push(consumer);
  }

  addJob(task: JobTask): void {
    this.jobs.push(task);
  }

  addLoop(loop: WorkLoop): void {
    this.loops.push(loop);
  }
}
