import { Module } from '@nestjs/common';
import { PageCursors } from '#platform/http/page-cursor.js';
import { ReadingsController } from './http/show-readings.js';
import { BatchesController } from './http/request-batch.js';
import { RequestReadingController } from './http/request-reading.js';
import { ReadingsInFlight } from './read-models/in-flight.js';
import { ReadingsModule } from './readings.module.js';

@Module({
  imports: [ReadingsModule],
  controllers: [RequestReadingController, BatchesController, ReadingsController],
  providers: [ReadingsInFlight, PageCursors],
})
export class ReadingsHttpModule {}
