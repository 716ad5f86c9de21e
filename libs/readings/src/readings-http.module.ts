import { Module } from '@nestjs/common';
import { PageCursors } from '@app/platform/http/page-cursor.js';
import { HistoryController } from './http/history.controller.js';
import { PersonalDataController } from './http/personal-data.controller.js';
import { ReadingsController } from './http/readings.controller.js';
import { ReadingsInFlight } from './read-models/reading/in-flight.js';
import { ReadingsModule } from './readings.module.js';

@Module({
  imports: [ReadingsModule],
  controllers: [ReadingsController, HistoryController, PersonalDataController],
  providers: [ReadingsInFlight, PageCursors],
})
export class ReadingsHttpModule {}
