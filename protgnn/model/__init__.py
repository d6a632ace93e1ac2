"""The model of the paper: encoder, readout, prototypes, objective. Read in that order."""
