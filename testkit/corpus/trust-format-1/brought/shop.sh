#!/bin/sh
touch served
