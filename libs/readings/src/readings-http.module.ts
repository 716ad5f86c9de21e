import { Module } from '@nestjs/common';
import { PageCursors } from '#platform/http/page-cursor.js';
import { EraseReadingController } from './application/erase-reading/erase-reading.controller.js';
import { ListReadingsController } from './application/list-readings/list-readings.controller.js';
import { RequestBatchController } from './application/request-batch/request-batch.controller.js';
import { RequestReadingController } from './application/request-reading/request-reading.controller.js';
import { ShowBatchController } from './application/show-batch/show-batch.controller.js';
import { ShowHistoryController } from './application/show-history/show-history.controller.js';
import { ShowReadingsController } from './application/show-readings/show-readings.controller.js';
import { ReadingsInFlight } from './read-models/reading/in-flight.js';
import { ReadingsModule } from './readings.module.js';

@Module({
  imports: [ReadingsModule],
  controllers: [
    RequestReadingController,
    RequestBatchController,
    ShowBatchController,
    ListReadingsController,
    ShowReadingsController,
    ShowHistoryController,
    EraseReadingController,
  ],
  providers: [ReadingsInFlight, PageCursors],
})
export class ReadingsHttpModule {}
