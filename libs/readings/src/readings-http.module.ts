import { Module } from '@nestjs/common';
import { ReadingsController } from './http/readings.controller.js';
import { ReadingsModule } from './readings.module.js';

@Module({ imports: [ReadingsModule], controllers: [ReadingsController] })
export class ReadingsHttpModule {}
