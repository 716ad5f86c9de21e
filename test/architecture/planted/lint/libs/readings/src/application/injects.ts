import { Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';

@Injectable()
export class Injected {
  constructor(readonly commands: CommandBus) {}
}
