module onecode-example-go

go 1.19
