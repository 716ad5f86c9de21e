export class ReadingsModule {}
