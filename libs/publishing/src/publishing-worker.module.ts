import { Inject, Module, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { processConsumer } from '#event-sourcing/processes/process.js';
import { projectionConsumer } from '#event-sourcing/projections/projection.js';
import { handleJobs } from '#platform/jobs/job.js';
import { rescueOverdue } from '#platform/jobs/rescue.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { LOGGER } from '#platform/tokens.js';
import { repeatedWork } from '#platform/work/repeated-work.js';
import { WorkRegistry } from '#platform/work/work-registry.js';
import {
  OVERDUE_PUBLICATIONS,
  PDF_RENDERER,
  PublicationMetrics,
  PublishDocumentJob,
  RenderAttempts,
} from './application/publish-document.job.js';
import { LinkStore } from './application/links.js';
import { createPdfRenderer, type PdfRenderer } from './pdf/renderer.js';
import { erasureProcess, publicationProcess, PUBLISH_DOCUMENT, publishJobAgain } from './processes.js';
import { PublishingModule } from './publishing.module.js';
import { publishingProjections } from './projections.js';

/** Threads that typeset PDFs, in each worker process: more processes make more of them. */
const PDF_THREADS = 1;
/** How often rows of links that expired long ago are deleted (ms). */
const LINK_SWEEP_MS = 3_600_000;

@Module({
  imports: [PublishingModule],
  providers: [
    PublishDocumentJob,
    RenderAttempts,
    PublicationMetrics,
    { provide: PDF_RENDERER, useFactory: () => createPdfRenderer(PDF_THREADS) },
  ],
})
export class PublishingWorkerModule implements OnModuleInit, OnApplicationShutdown {
  constructor(
    private readonly work: WorkRegistry,
    private readonly commands: CommandBus,
    private readonly publish: PublishDocumentJob,
    @Inject(PDF_RENDERER) private readonly pdf: PdfRenderer,
    @Inject(POSTGRES) private readonly pool: Pool,
    @Inject(LOGGER) private readonly log: Logger,
  ) {}

  onModuleInit(): void {
    for (const one of publishingProjections) this.work.addConsumer(projectionConsumer(one));
    // A completed reading waits for its documents.
    this.work.addConsumer({
      ...processConsumer(publicationProcess, () => Promise.resolve()),
    });
    this.work.addConsumer(processConsumer(erasureProcess, (command) => this.commands.execute(command)));
    this.work.addJob(handleJobs(PUBLISH_DOCUMENT, (job) => this.publish.run(job)));
    this.work.addLoop(
      rescueOverdue(
        this.pool,
        { kind: PUBLISH_DOCUMENT, overdue: OVERDUE_PUBLICATIONS, jobOf: publishJobAgain },
        this.log,
      ),
    );
    const links = new LinkStore(this.pool);
    this.work.addLoop(
      repeatedWork('publishing.link-sweep', LINK_SWEEP_MS, (signal) => links.forget(signal), this.log),
    );
  }

  async onApplicationShutdown(): Promise<void> {
    await this.pdf.close();
  }
}
