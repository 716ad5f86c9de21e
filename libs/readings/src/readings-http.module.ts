import { Module } from '@nestjs/common';
import { ReadingsController } from './http/readings.controller.js';
import { ReadingsInFlight } from './read-models/reading/in-flight.js';
import { ReadingsModule } from './readings.module.js';

@Module({ imports: [ReadingsModule], controllers: [ReadingsController], providers: [ReadingsInFlight] })
export class ReadingsHttpModule {}
